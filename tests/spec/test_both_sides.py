"""Signs that an answer shows both sides, and tables against people's verdicts, by hand."""

from pipelines.conflictscore.both_sides import WITHOUT, JudgedResult, areas, hedges
from pipelines.conflictscore.result import relations_by_claim
from pipelines.conflictscore.scores import both_sides, conflict_score_count, conflict_score_ratio
from pipelines.data.records import Document
from pipelines.data.wikicontradict import Verdict
from pipelines.judge.judgement import Judgement, Relation
from pipelines.metrics.estimate import Estimate
from pipelines.report.table import own_rows

S, C, I = Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT  # noqa: E741

DOCUMENTS = (Document(id="d1", text="In 1902."), Document(id="d2", text="In 1936."))


def answer(
    *rows: tuple[Relation, Relation],
    text: str = "In 1902.",
    people: Verdict = "Partially correct",
    question: str = "q",
    model: str = "m",
    shares: tuple[float, ...] = (),
) -> JudgedResult:
    """An answer with one claim per row of relations, and optional probabilities of support."""
    relations = [each for row in rows for each in row]
    given = shares or (None,) * len(relations)
    judgements = tuple(
        Judgement(
            claim=f"c{place // 2}",
            document=DOCUMENTS[place % 2].id,
            relation=relation,
            probabilities=None if share is None else {S: share, C: 0, I: 1 - share},
            source="tagger",
        )
        for place, (relation, share) in enumerate(zip(relations, given, strict=True))
    )
    by_claim = relations_by_claim(judgements, 2)
    return JudgedResult(
        id=text, group=question, response=text, documents=DOCUMENTS, status="scored",
        claims=tuple(f"c{place}" for place in range(len(rows))), judgements=judgements,
        cs_c=conflict_score_count(by_claim), cs_r=conflict_score_ratio(by_claim),
        both_sides=both_sides(judgements),
        model=model, prompt="both passages", people=people,
    )  # fmt: skip


def test_hedging_words_are_counted() -> None:
    text = "However, the butler says 1902, but according to him sources differ and contradict."
    assert hedges(answer((S, C), text=text)) == 5
    assert hedges(answer((S, C), text="Butter, whilst indifferent.")) == 0


ANSWERS = [
    answer((S, S), people="Correct", question="a", text="But 1902, 1936."),
    answer((S, C), question="a", model="n"),
    answer((S, S), question="b", model="n", text="It was 1902."),
    answer((S, C), question="b", people="Correct", model="o", text="However, who knows?"),
]
"""People's verdicts: both, not, not, both. No claim is in conflict in the first and third one."""


def test_areas() -> None:
    """1 − CS-C is 1, 0, 1, 0: one of four pairs is won and two are tied, so the AUC is 1/2.

    Both hedged answers show both sides: AUC 1.
    """
    found = {str(row["sign"]): row for row in own_rows(areas({"run": ANSWERS}))}
    assert values(found["1 − CS-C"]["area"], found["hedging words"]["area"]) == [0.5, 1.0]
    assert values(found["1 − CS-C"]["beyond"]) == [-0.5]
    assert (found["words"]["both"], found["words"]["questions"]) == (2, 2)


def values(*cells: object) -> list[float]:
    assert all(isinstance(each, Estimate) for each in cells)
    return [each.value for each in cells if isinstance(each, Estimate)]


def test_failed_answers_are_counted() -> None:
    lost = answer((S, C)).model_copy(update={"status": "failed", "judgements": (), "cs_c": None})
    row = next(iter(own_rows(areas({"run": [*ANSWERS, lost]}))))
    assert (row["answers"], row["without"]) == (4, 1)
    assert {row["run"] for row in own_rows(areas({"run": [lost]}))} == {WITHOUT}
