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
    "ramdocs": "RAMDocs_test.jsonl",
    "conflictqa": "a conflictQA-*.json",
    "fool-me-twice": "a .jsonl of FoolMeTwice",
    "wice": "a .jsonl of WiCE's entailment_retrieval",
    "climate-fever": "climate-fever.jsonl",
}
"""Released data sets -> what is read of them."""

PANEL = "What else is made or left out"


class PairSettings(Options):
    """Which pairs are made, and what is left out.

    A part of a release that is cut into halves is what is trained on, the eighth of that half that
    is held out for development, the test half, or everything; a release with a split of its own has
    no development part. What `recipes.KEPT_FROM` names is left out of all pairs.

    Pairs of `nli` may share a hypothesis with those of `keep_from`: files of sentence pairs are cut
    by premise, and a third of HealthVer's training pairs have a claim that its development pairs
    have, too. Sources are left out (`leave_out`) for a licence that forbids shipping.
    """

    nli: Annotated[
        list[Path] | None,
        Option("A file of labelled pairs that is taken as it is. Repeatable."),
    ] = None
    half: Annotated[
        Split,
        Option(
            "Which half of each release; `dev` is the eighth that `train` keeps back. FEVER, "
            "SciFact and RAGTruth have a split of their own. For `train` and `dev`, whatever the "
            "test halves show is left out of everything."
        ),
    ] = "train"
    keep_from: Annotated[
        list[Path] | None,
        Option(
            "A file of labelled pairs to measure with: its premises are left out of everything, "
            "its hypotheses of what is made of the releases. Repeatable.",
            panel=PANEL,
        ),
    ] = None
    leave_out: Annotated[
        list[str] | None,
        Option("A source to leave out, as the table names it. Repeatable.", panel=PANEL),
    ] = None
    only_given: Annotated[
        bool,
        Option(
            "Write the pairs of --nli only; the other releases are read for what their test "
            "halves show, which is left out.",
            panel=PANEL,
        ),
    ] = False
    own_sentences: Annotated[
        bool,
        Option(
            "Make pairs of the documents alone as well: a sentence and its passage, and the same "
            "with a number, date or name exchanged.",
            panel=PANEL,
        ),
    ] = False
    in_context: Annotated[
        list[str] | None,
        Option(
            "A source of --nli whose groups are pages: make passages of it as well, each sentence "
            "of evidence among others of its page. Repeatable.",
            panel=PANEL,
        ),
    ] = None
    views: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Write, instead of the pairs, N claims that report several views, made of statements "
            "about one text, and claims and documents that deny.",
            panel=PANEL,
        ),
    ] = None
    seed: Seed = 42


AS_USUAL: Final = PairSettings()
