"""Options of the experiment that compares detectors of errors in neutral responses."""

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from pipelines.experiment.options import (
    AsInPaper,
    EndpointOptions,
    RunOptions,
    ServedOptions,
    TaggerOptions,
)
from pipelines.npov.decoder import SALIENCE_PANEL, DecoderOptions, MeasureOption
from pipelines.option import Choice, Only, Option, Seed, WithPresets

SAMPLES = Path(__file__).parent / "samples"
SAMPLE_TOPICS = SAMPLES / "topics.jsonl"
SAMPLE_SETS: Final = SAMPLES / "test_sets.jsonl"
"""Responses to nine test topics, written by a template, that copy arguments or paraphrase them."""

TopicsFile = Annotated[
    Path,
    Option(
        "Topics with arguments: a scrape of procon.org, or lines with topic, question, pro "
        "and con.",
        shown="bundled topics",
    ),
]
"""For the field `data`."""

AS_IN_PAPER: Final = (
    Choice("detector", "salience"),  # section 3.2
)

STUDY_AS_IN_PAPER: Final = (
    Choice("generator", "soft-prompt"),  # section 2.1
    Choice("steps", 20_000),  # section 2.1, appendix B; hours on a CPU
    Choice("batch", 16),  # appendix B; minutes for a few updates on a CPU
    Choice("draws", 18),  # section 4.1; hours on a CPU
    Choice("limit", None),  # section 4.3; gradients take half a minute a response on a CPU
)

_size_option = partial(Option, panel="Size: small on a CPU, the paper's on a GPU")


class NpovOptions(RunOptions, TaggerOptions, EndpointOptions, DecoderOptions):
    """Compare detectors of hallucination and coverage errors, response by response.

    Detectors score responses with known errors, from a study (`contested lab study-npov`) or
    annotated by people. Only ablation needs a server. Writes `npov.NAME.jsonl` (examples and
    words), `tables/` (the paper's Tables 1, 2, 3, 5 and 6) and `report.html`. Run it again with
    another model or detector and the same folder to compare both in one table.

    Examples:
        contested run npov --dry-run

        contested run npov --limit 1 --detector classifier --out results-npov
    """

    ITEMS: ClassVar = "examples"
    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path,
        Option(
            "Test sets of a study (`study.cases.jsonl`), or responses with errors annotated by "
            "people.",
            shown="bundled responses",
        ),
    ] = SAMPLE_SETS
    detector: Annotated[
        Literal["ablation", "salience", "tagger", "classifier", "baselines"],
        Option(
            "`ablation` asks a server how much less likely a response is without an argument; "
            "`salience` takes gradients; `tagger` asks the NLI tagger for support; `classifier` "
            "asks the model itself. `baselines` (lengths, ROUGE, BERTScore, embeddings) are "
            "always measured, too."
        ),
    ] = "ablation"
    name: Annotated[
        str | None,
        Option(
            "Name of the run in tables; a folder can hold several.",
            metavar="NAME",
            shown="the model's name, with the detector's; or baselines",
        ),
    ] = None
    soft_prompt: Annotated[
        list[Path] | None,
        Option(
            "A soft prompt from a study. Gradients are then taken with the prompt in place, as in "
            "the paper. The classifier takes one per kind of error.",
            panel=SALIENCE_PANEL,
            shown="none",
            only=Only(
                lambda options: options.detector in ("salience", "classifier"),
                lambda options: f"--detector {options.detector}",
            ),
        ),
    ] = None
    limit: Annotated[
        int | None, Field(ge=1), Option("Take only the first N examples of each set.", metavar="N")
    ] = None
    measure: MeasureOption = "input_x_gradient"


class StudyOptions(WithPresets, TaggerOptions, ServedOptions, DecoderOptions):
    """Options of the study."""

    PRESETS: ClassVar = {"as_in_paper": STUDY_AS_IN_PAPER}

    as_in_paper: AsInPaper = False
    data: TopicsFile = SAMPLE_TOPICS
    out: Annotated[Path, Option("Run folder; created, or resumed.")] = Path("results-salience")
    generator: Annotated[
        Literal["soft-prompt", "prompt"],
        Option(
            "How the model writes: with a soft prompt that is tuned here, or with a written prompt."
        ),
    ] = "soft-prompt"
    responses: Annotated[
        Path | None,
        Option(
            "People's responses to train and dev topics, to tune the generator on; format as for "
            "`contested run npov --data`.",
            shown="written by a template",
        ),
    ] = None
    annotator: Annotated[
        str,
        Option(
            "Who finds the errors of responses: `machine` (the NLI tagger, both ways), `people` "
            "(by `contested annotate`, after step 3), or a file of their labels, as for "
            "`contested run npov --data`.",
            metavar="NAME",
        ),
    ] = "machine"
    paraphrases: Annotated[
        Path | None,
        Option(
            "Paraphrases of arguments; the model writes missing ones.",
            shown="bundled ones",
        ),
    ] = None
    until: Annotated[
        Literal["generator", "responses"] | None,
        Option("Stop after this step."),
    ] = None
    steps: Annotated[
        int | None, Field(ge=1), _size_option("Updates of each soft prompt.", shown="8; 20000")
    ] = None
    batch: Annotated[
        int | None, Field(ge=1), _size_option("Examples per update.", shown="4; 16")
    ] = None
    draws: Annotated[
        int | None,
        Field(ge=1, le=18),
        _size_option("Draws of arguments for each topic.", shown="3; 18"),
    ] = None
    limit: Annotated[
        int | None,
        Field(ge=1),
        _size_option("Measure on the first N of each test set.", metavar="N", shown="12; all"),
    ] = None
    seed: Seed = 0
    dry_run: Annotated[bool, Option("List the steps without doing them.", name="--dry-run")] = False
