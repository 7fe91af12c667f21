"""Labelled pairs, a small release and a tiny tagger, for commands that need files."""

from pathlib import Path

from releases import lines
from tiny_encoders import WORDS, cross_encoder

from nli.labels import LABELS
from nli.pairs import LabelledPair, write_pairs

TINY_ORDER = ("contradiction", "neutral", "entailment")
"""Labels of the tiny tagger's logits, in an unusual order."""


def some_pairs(count: int) -> list[LabelledPair]:
    """Pairs with recurring words: three per premise, one per label, from two sources."""
    return [
        LabelledPair(
            premise=f"The bridge was opened in {1900 + n // 3} by {WORDS[n // 3 % 9]} mayor.",
            hypothesis=f"It is {' '.join(WORDS[n % 7 : 12])}.",
            label=LABELS[n % 3],
            source="even" if n // 3 % 2 == 0 else "odd",
        )
        for n in range(count)
    ]


def write_scifact(folder: Path) -> Path:
    """SciFact's training files with one claim: one refuting pair, two irrelevant ones."""
    claim = {
        "id": 1,
        "claim": "A helps.",
        "evidence": {"11": [{"sentences": [1], "label": "CONTRADICT"}]},
        "cited_doc_ids": [11],
    }
    folder.mkdir(parents=True, exist_ok=True)
    lines(folder / "claims_train.jsonl", claim)
    abstract = {"doc_id": 11, "title": "On A", "abstract": ["We ask.", "No.", "Mice."]}
    lines(folder / "corpus.jsonl", abstract)
    return folder


def write_examples(folder: Path) -> Path:
    """Every file named in the examples of docs/nli.md, except the shipped tagger."""
    write_scifact(folder / "scifact")
    write_pairs(folder / "own.jsonl", some_pairs(60))
    write_pairs(folder / "dev.jsonl", some_pairs(90))
    write_pairs(folder / "held-out.jsonl", some_pairs(300))
    cross_encoder(folder / "encoder", TINY_ORDER)
    return folder
