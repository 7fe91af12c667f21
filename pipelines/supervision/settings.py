"""What a user may choose about the pairs that are made of released data sets."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from pipelines.data.released import Split
from pipelines.option import Option, Options, Seed

RELEASES: Final = {
    "fever": "folder with train.jsonl, shared_task_dev.jsonl and wiki-pages/",
    "scifact": "folder with claims_train.jsonl, claims_dev.jsonl and corpus.jsonl",
    "ragtruth": "folder with response.jsonl and source_info.jsonl",
    "everyday": "everyday.jsonl of this program's sources",
    "ramdocs": "RAMDocs_test.jsonl",
    "conflictqa": "a conflictQA-*.json",
    "fool-me-twice": "a .jsonl of FoolMeTwice",
    "wice": "a .jsonl of WiCE's entailment_retrieval",
    "climate-fever": "climate-fever.jsonl",
}
"""Released data set -> what is read of it."""

PANEL = "What else is made or left out"


class PairSettings(Options):
    """Which pairs are made, and what is left out.

    The parts of a release that is cut into halves: `train` is what is trained on, `dev` the eighth
    of that half held out for development, `test` the other half, `all` everything. FEVER, SciFact
    and RAGTruth have no `dev`. Texts of the parts in `recipes.KEPT_FROM` are left out of all pairs.

    Pairs of `nli` may share a hypothesis with those of `keep_from`: files of sentence pairs are cut
    by premise, and a third of HealthVer's training pairs share a claim with its development pairs.
    `leave_out` is for sources whose licence forbids shipping.
    """

    nli: Annotated[
        list[Path] | None,
        Option("A file of labelled pairs to include as it is. Repeatable."),
    ] = None
    half: Annotated[
        Split,
        Option(
            "Half of the releases; `dev` is the eighth that `train` holds out. FEVER, SciFact "
            "and RAGTruth have their own splits. `train` and `dev` leave out all texts of the "
            "test halves."
        ),
    ] = "train"
    keep_from: Annotated[
        list[Path] | None,
        Option(
            "Pairs reserved for measurement: their premises are left out everywhere, their "
            "hypotheses from pairs made of the releases. Repeatable.",
            panel=PANEL,
        ),
    ] = None
    leave_out: Annotated[
        list[str] | None,
        Option("A source to leave out, by its name in the table. Repeatable.", panel=PANEL),
    ] = None
    only_given: Annotated[
        bool,
        Option(
            "Write only the pairs of --nli, without texts of the releases' test halves.",
            panel=PANEL,
        ),
    ] = False
    own_sentences: Annotated[
        bool,
        Option(
            "Also make pairs from documents alone: a sentence with its passage, as it is and "
            "with a number, date or name exchanged.",
            panel=PANEL,
        ),
    ] = False
    in_context: Annotated[
        list[str] | None,
        Option(
            "A source of --nli whose groups are pages: also make passages, with the evidence "
            "among other sentences of its page. Repeatable.",
            panel=PANEL,
        ),
    ] = None
    views: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Instead of the pairs, write N claims that report several views, made from "
            "statements about one text, with claims and documents that deny them.",
            panel=PANEL,
        ),
    ] = None
    seed: Seed = 42
