"""Pairs of examples of a user's documents: a planted conflict, and one without beside it."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from random import Random
from typing import Final, Literal

from pipelines.conflictscore.detection.baselines import content_word_recall
from pipelines.conflictscore.planted.change import Change, Kind, Sentence
from pipelines.conflictscore.planted.facts import RULES, Material, changes, material, namesake_of
from pipelines.data.records import Document
from pipelines.evidence.examples import ContestedClaim, Plant
from pipelines.evidence.judgement import Relation, conflicting
from pipelines.retrieval.chunks import document_of
from pipelines.text.substitution import mentions

ControlName = Literal["unrelated", "untouched", "namesake"]

KINDS: Final = tuple(RULES)
"""All kinds."""

BY_RULE: Final[tuple[Kind, ...]] = tuple(kind for kind in KINDS if kind != "opinions")
"""Kinds that need no language model."""

VALUES: Final[tuple[Kind, ...]] = ("numbers", "dates", "names")
"""Kinds of which one is changed elsewhere in a copy that leaves the claim as it is."""

HANDFUL: Final = 20
"""Passages drawn for an unrelated one, of which that with the fewest words of a claim is taken."""

APART: Final = 0.2
"""Share of a claim's content words below which a passage is about something else."""

NEAR: Final = 0.3
"""The same for a passage that has no number, date or name where the claim has one: so it can say
nothing against it. A user's documents may well conflict by themselves."""

WHOLE: Final[tuple[Kind, ...]] = ("negation", "opinions")
"""Kinds whose fact is no value, so that a question asks for the whole sentence."""


@dataclass(frozen=True)
class Control:
    """The second document of an example without conflict, and what it says of the claim."""

    name: ControlName
    document: Document
    relation: Relation


@dataclass(frozen=True)
class Pair:
    """A planted conflict and, of the same claim, an example without conflict.

    Attributes:
        id: "numbers-12": the kind, and the number of the passage among all.
        change: What the changed copy says instead of the claim.
        control: What stands beside the original where there is no conflict.
        written: The changed sentence as a language model has put it; None as the rule has it.
    """

    id: str
    change: Change
    control: Control
    written: str | None = None

    @property
    def kind(self) -> Kind:
        """What is changed."""
        return self.change.kind

    @property
    def original(self) -> Document:
        """The passage that states the claim."""
        return self.change.sentence.document

    @property
    def copy(self) -> Document:
        """The passage that contradicts it."""
        return self.change.copy(self.written)

    @property
    def claim(self) -> str:
        """The sentence, on one line."""
        return " ".join(self.change.sentence.text.split())

    @property
    def question(self) -> str:
        """What a writer is asked, so that the answer tells what became of the fact."""
        if self.kind in WHOLE:
            return f'Is this so? "{self.claim}"'
        sentence, value = self.change.sentence, self.change.edits[-1]
        text = sentence.document.text
        # The edit of an outdated edition may begin before the value, and ends with it.
        start = value.end - len(self.change.old)
        asked = f"{text[sentence.start : start]}...{text[value.end : sentence.end]}"
        return f'What belongs in place of the dots? "{" ".join(asked.split())}"'

    def rewritten(self, written: str) -> "Pair":
        """The same with a sentence that a language model has written."""
        made = replace(self, written=written)
        if self.control.name == "namesake":
            return replace(made, control=_namesake(self.change, written))
        return made

    def examples(self, *, checked: bool, seed: int) -> tuple[ContestedClaim, ContestedClaim]:
        """The example with conflict and the one without; the seed decides which document is first.

        `checked` says whether a tagger saw the conflict.
        """
        return (
            self._example((self.copy, Relation.CONTRADICTS), None, checked=checked, seed=seed),
            self._example(
                (self.control.document, self.control.relation),
                self.control.name,
                checked=checked,
                seed=seed,
            ),
        )

    def _example(
        self,
        second: tuple[Document, Relation],
        control: ControlName | None,
        *,
        checked: bool,
        seed: int,
    ) -> ContestedClaim:
        name = f"{self.id}/{'conflict' if control is None else 'none'}"
        beside = [(self.original, Relation.SUPPORTS), second]
        if drawing(seed, name).random() < 0.5:
            beside.reverse()
        relations = tuple(relation for _, relation in beside)
        change = self.change
        plant = {
            "kind": self.kind,
            "type": _type(self.kind, control),
            "document": self.original.id,
            "old": change.old,
            "new": self.written if self.kind == "opinions" else change.new,
            "control": control,
            "by": "model" if self.written else "rule",
            "checked": checked,
        }
        return ContestedClaim(
            id=name,
            source=self.kind,
            claim=self.claim,
            question=self.question,
            answer=None if self.kind in WHOLE else change.old,
            documents=tuple(
                Document(id=f"d{place}", text=each.text, title=each.title, date=each.date)
                for place, (each, _) in enumerate(beside, 1)
            ),
            relations=relations,
            conflict=conflicting(relations),
            plant=Plant.model_validate(plant),
        )


def _type(kind: Kind, control: ControlName | None) -> str:
    """What CONFLICTS' taxonomy calls the relation of the two documents."""
    if control is not None:
        return "complementary" if control == "namesake" else "no-conflict"
    return kind if kind in ("outdated", "opinions") else "misinformation"


def pairs(
    passages: Sequence[Document],
    kinds: Iterable[Kind],
    *,
    seed: int = 0,
    limit: int | None = None,
) -> list[Pair]:
    """The pairs of passages, of each at most one a kind, by kind and then in their order.

    A pair needs a fact that a rule changes and a document for the example without conflict. It
    depends on the seed, the kind and the passages alone. With a limit so many are taken, by turns
    of the kinds and drawn by the seed; a larger limit takes the same and more.
    """
    known = material(passages)
    found: dict[Kind, list[Pair]] = {}
    for kind in kinds:
        made = (_pair(kind, place, passages, known, seed) for place in range(len(passages)))
        found[kind] = [each for each in made if each is not None]
    return _limited(found.values(), seed, limit)


def _limited(kinds: Iterable[Sequence[Pair]], seed: int, limit: int | None) -> list[Pair]:
    """So many of the pairs of several kinds, in their order; all without a limit."""
    every = [list(own) for own in kinds]
    if limit is None:
        return [each for own in every for each in own]
    drawn = [drawing(seed, f"limit/{n}").sample(own, len(own)) for n, own in enumerate(every)]
    turns = [each for turn in zip_longest(*drawn) for each in turn if each is not None]
    taken = {each.id for each in turns[:limit]}
    return [each for own in every for each in own if each.id in taken]


def drawing(seed: int, name: str) -> Random:
    """What draws for something of that name, whatever else is drawn."""
    return random.Random(f"{seed}/{name}")  # noqa: S311  (nothing is secret here)


def _pair(
    kind: Kind, place: int, passages: Sequence[Document], known: Material, seed: int
) -> Pair | None:
    rng = drawing(seed, f"{kind}/{passages[place].id}")
    change = next(changes(kind, passages[place], known, rng), None)
    control = change and _control(change, passages, known, rng)
    return Pair(f"{kind}-{place + 1}", change, control) if change and control else None


def _control(
    change: Change, passages: Sequence[Document], known: Material, rng: Random
) -> Control | None:
    """A document without conflict beside a claim: of a namesake, or one of two others.

    These are a copy with another fact changed, and an unrelated passage; a coin says which is tried
    first. None where there is neither.
    """
    if change.kind == "namesakes":
        return _namesake(change)
    ways = [
        lambda: _untouched(change.sentence, known, rng),
        lambda: _unrelated(change.sentence, passages, rng),
    ]
    if rng.random() < 0.5:
        ways.reverse()
    return ways[0]() or ways[1]()


def _namesake(change: Change, written: str | None = None) -> Control:
    """The changed copy, which says first that it is about another of the name."""
    copy = change.copy(written)
    note = (
        f"This is about another {namesake_of(change.sentence)}, which has nothing but the name in "
        "common with the better known one."
    )
    document = copy.model_copy(update={"text": f"{note}\n\n{copy.text}"})
    return Control("namesake", document, Relation.IRRELEVANT)


def _untouched(sentence: Sentence, known: Material, rng: Random) -> Control | None:
    """A copy with a fact changed in another sentence, which leaves the claim as it is."""
    for kind in rng.sample(VALUES, len(VALUES)):
        for change in changes(kind, sentence.document, known, rng, without=sentence):
            return Control("untouched", change.copy(), Relation.SUPPORTS)
    return None


def _unrelated(sentence: Sentence, passages: Sequence[Document], rng: Random) -> Control | None:
    """A passage of another document: of a handful that with the fewest of the claim's words.

    None where all of them may be about the claim (`APART`, `NEAR`).
    """
    own, kinds = document_of(sentence.document.id), _mentioned(sentence.text)
    # Some more are drawn than are wanted, for passages of the same document are no others.
    some = rng.sample(passages, min(3 * HANDFUL, len(passages)))
    drawn = [each for each in some if document_of(each.id) != own][:HANDFUL]
    apart = []
    for place, each in enumerate(drawn):
        shared = content_word_recall(sentence.text, each)
        if shared < APART or (shared < NEAR and not kinds & _mentioned(each.as_read())):
            apart.append((shared, place))
    if not apart:
        return None
    return Control("unrelated", drawn[min(apart)[1]], Relation.IRRELEVANT)


def _mentioned(text: str) -> set[str]:
    """Kinds of what a text mentions; days, months and years are all one."""
    return {"date" if each.kind in ("year", "month") else each.kind for each in mentions(text)}
