"""Options of the experiment that compares detectors of errors in neutral responses."""

from enum import StrEnum
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
from pipelines.npov.decoder import SALIENCE_PANEL, DecoderOptions, SalienceSettings
from pipelines.option import Choice, Only, Option, Seed, WithPresets

SAMPLES = Path(__file__).parent / "samples"
SAMPLE_TOPICS = SAMPLES / "topics.jsonl"

AS_IN_PAPER: Final = (
    Choice(
        "detector",
        "salience",
        "section 3.2",
        "leaving arguments out finds more errors, and takes any model that is served",
    ),
    Choice(
        "design",
        "paper",
        "section 4.2",
        "unequal sides would tell errors",
    ),
    Choice(
        "per_topic",
        18,
        "section 4.1",
        "gradients of a response take half a minute on two cores",
    ),
)

STUDY_AS_IN_PAPER: Final = (
    Choice("generator", "soft-prompt", "section 2.1"),
    Choice("steps", 20_000, "section 2.1, appendix B", "hours on a CPU"),
    Choice("batch", 16, "appendix B", "minutes for a few updates on a CPU"),
    Choice("draws", 18, "section 4.1", "hours on a CPU"),
    Choice("limit", None, "section 4.3", "gradients take half a minute a response on a CPU"),
)

_set_option = partial(Option, panel="Test sets")
_size_option = partial(Option, panel="Size: small on a CPU, the paper's on a GPU")

Design = Literal["matched", "paper"]
"""How arguments are drawn, and errors made from them.

`paper` (section 4.2): responses have one, two or three arguments of either side, in turn, as far as
the topic has them. Any argument is taken away, and any unused one given besides. An error makes
sides unequal, which they never are otherwise; and a response to all arguments has no coverage
error.

`matched`: every response has an example without error and one of each kind, so no property of
responses alone reveals errors. A side has one, two or three arguments, given and said. Errors are
equally frequent on both sides, and sides equally often unequal without error as with. What can
still be counted is the argument that a hallucination has too many and a coverage error too few; in
examples with both, one is exchanged for another of its side, and nothing can be counted.
"""


class SyntheticSet(StrEnum):
    """How far responses are from their arguments: copies, or in other words."""

    UNPARAPHRASED = "unparaphrased"
    PARAPHRASED = "paraphrased"


class NpovOptions(RunOptions, TaggerOptions, EndpointOptions, DecoderOptions):
    """Compare detectors of hallucination and coverage errors, response by response.

    A template writes responses to topics with arguments. To plant an error, an argument that the
    response lacks is listed as given, or one that it has is not. Ablation, salience, a tagger,
    classifiers, lengths, ROUGE or BERTScore then score the responses; only ablation needs a server.
    Writes into the run folder: `npov.NAME.jsonl` (examples and words), `tables/` in the layout of
    the paper's Tables 1, 2, 3, 5 and 6, and `report.html`. Run it again with another model or
    detector and the same folder to compare both in one table.

    Examples:
        contested run npov --split all --dry-run

        contested run npov --limit 1 --detector classifier --out results-npov
    """

    ITEMS: ClassVar = "examples"
    PRESETS: ClassVar = {"as_in_paper": AS_IN_PAPER}

    data: Annotated[
        Path,
        _set_option("Topics with arguments for and against.", shown="bundled topics"),
    ] = SAMPLE_TOPICS
    sets: Annotated[
        list[SyntheticSet] | None,
        _set_option(
            "Responses that copy arguments, or paraphrase them. Repeatable.",
            name="--set",
            shown="both",
        ),
    ] = None
    organic: Annotated[Path | None, _set_option("Responses with errors annotated by people.")] = (
        None
    )
    cases: Annotated[
        Path | None,
        _set_option("Test sets of a study (`study.cases.jsonl`), instead of sets made here."),
    ] = None
    paraphrases: Annotated[
        Path | None,
        _set_option("Paraphrases of arguments.", shown="bundled ones"),
    ] = None
    split: Annotated[
        Literal["train", "dev", "test", "all"],
        _set_option(
            "Which topics of the paper's Table 4. Other topics are split by a hash of their names."
        ),
    ] = "test"
    design: Annotated[
        Design,
        _set_option(
            "How to make errors: `matched` with error-free examples in number, side and length "
            "of response; or as in the `paper`, where unequal sides give errors away."
        ),
    ] = "matched"
    per_topic: Annotated[
        int,
        Field(ge=1),
        _set_option("Error-free responses per topic; those with errors are made from them."),
    ] = 1
    seed: Annotated[int, _set_option("Seed of all random draws.")] = 0
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
            "A soft prompt of a study. Gradients are then taken of the model with it, as in the "
            "paper. The classifier takes one per kind of error.",
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
    salience: SalienceSettings = SalienceSettings()


class StudyOptions(WithPresets, TaggerOptions, ServedOptions, DecoderOptions):
    """Options of the study."""

    PRESETS: ClassVar = {"as_in_paper": STUDY_AS_IN_PAPER}

    as_in_paper: AsInPaper = False
    data: Annotated[
        Path,
        Option(
            "Topics with arguments: a scrape of procon.org, or lines with topic, question, pro and "
            "con.",
            shown="bundled topics",
        ),
    ] = SAMPLE_TOPICS
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
            "`contested run npov --organic`.",
            shown="written by a template",
        ),
    ] = None
    annotator: Annotated[
        str,
        Option(
            "Who finds the errors of responses: `machine` (the NLI tagger, both ways), `people` "
            "(by `contested annotate`, after step 3), or a file of their labels, as for "
            "`contested run npov --organic`.",
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
        int | None, Field(ge=1), _size_option("Examples of an update.", shown="4; 16")
    ] = None
    draws: Annotated[
        int | None,
        Field(ge=1, le=18),
        _size_option("Draws of arguments for each topic.", shown="2; 18"),
    ] = None
    limit: Annotated[
        int | None,
        Field(ge=1),
        _size_option("Measure on the first N of each test set.", metavar="N", shown="12; all"),
    ] = None
    seed: Seed = 0
    dry_run: Annotated[bool, Option("Say what there is to do; do nothing.", name="--dry-run")] = (
        False
    )
