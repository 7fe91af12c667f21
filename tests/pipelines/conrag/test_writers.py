"""The methods where a language model writes: a scripted one, whose texts are known."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from known_labels import KnownLabels
from scripted import Reply, fenced_text, prompt_of, schema_of
from scripted_generator import ScriptedGenerator

from pipelines.conrag import metrics
from pipelines.conrag.data import GoldAnswer, Query, ResponseSentence
from pipelines.conrag.evidence import Stance
from pipelines.conrag.methods import ABLATIONS, METHODS
from pipelines.conrag.pipeline import evaluate
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.settings import ConragSettings
from pipelines.conrag.tables import Line, hallucinations
from pipelines.data.records import Document
from pipelines.judge.judgement import Judgement, Judgements, Relation
from pipelines.report.table import own_rows
from pipelines.retrieval.index import Retrieved

S, C, I, X = Relation  # noqa: E741
TEXTS = {
    "s1": "The bridge at Rowle was opened in 1932.",
    "c1": "The bridge was not opened before 1936.",
    "c2": "Crowds came in 1936 to see ribbons cut.",
    "i1": "Ferries cross the river at Rowle.",
}
PASSAGES = tuple(Document(id=name, text=text) for name, text in TEXTS.items())
FOUND = [Retrieved(passage, 1 - n / 10, 1.0) for n, passage in enumerate(PASSAGES)]
CLAIM = Query(
    id="one", source="own", claim="The bridge was opened in 1932.", passages=PASSAGES,
    stance=Stance.REFUTE, disputed=True, evidence=(frozenset({"c1", "c2"}),),
    relations={"s1": S, "c1": C, "c2": C},
)  # fmt: skip
QUESTION = Query(
    id="two", source="alce-asqa", claim="When was the bridge opened?", passages=PASSAGES,
    relations={"s1": S}, gold_answer=GoldAnswer((("1932",),)),
)  # fmt: skip


def plain(request: dict[str, Any]) -> str:
    """From passages alone: takes a side, and cites the first and the second passage.

    Where many citations are asked for, it cites all of them.
    """
    if "many citations" in prompt_of(request):
        dense = {"sent": "Sources differ.", "cites": [1, 2, 3, 4]}
        return json.dumps({"stance": "REFUTE", "sentences": [dense]})
    sentences = [
        {"sent": "It was opened in 1932.", "cites": [1]},
        {"sent": "Crowds came in 1936.", "cites": [2]},
        {"sent": "Nothing is sure.", "cites": [9]},
    ]
    return json.dumps({"stance": "SUPPORT", "sentences": sentences})


def writes(request: dict[str, Any]) -> str:
    """As the schema asks. Of evidence the first supporting and refuting passage are cited."""
    schema = schema_of(request)
    if schema == "FirstAnswerReply":
        return '{"answers": ["1932"]}'
    if schema.startswith("Plain"):
        return plain(request)
    table = prompt_of(request)
    first = {
        side: next((n for n in range(1, 9) if f"[{n}] {relation}" in table), 9)
        for side, relation in (("support", "SUPPORTS"), ("refute", "CONTRADICTS"))
    }
    sentences = [
        {"about": side, "sent": f"Opened, {side}.", "cites": [number]}
        for side, number in first.items()
    ]
    return json.dumps({"stance": "SUPPORT", "conflict": "", "sentences": sentences})


def first_then(first: str, rest: str = "") -> Reply:
    """As `writes`, but for the first answer, and another text in place of all others."""

    def reply(request: dict[str, Any]) -> str:
        return first if schema_of(request) == "FirstAnswerReply" else rest or writes(request)

    return reply


Evaluated = Callable[..., Awaitable[ClaimResult]]


@pytest.fixture
def evaluated(scripted: ScriptedGenerator) -> Evaluated:
    async def evaluate_with(
        query: Query, reply: Reply = writes, found: Sequence[Retrieved] = FOUND
    ) -> ClaimResult:
        async with scripted(reply) as generator:
            return await evaluate(query, found, KnownLabels(), ConragSettings(), generator)

    return evaluate_with


Said = Sequence[tuple[str, tuple[str, ...]]]
RELRAG = [("It was opened in 1932.", ("s1",)), ("Crowds came in 1936.", ("c1",)),
          ("Nothing is sure.", ())]  # fmt: skip
OURS = [("Opened, support.", ("s1",)), ("Opened, refute.", ("c1",))]
CLAIM_OUTCOMES: dict[str, tuple[Stance, Said]] = {
    "RelRAG": (Stance.SUPPORT, RELRAG),
    "NLI-RAG": (Stance.REFUTE, [(RELRAG[0][0], ()), RELRAG[1], RELRAG[2]]),
    "CiteRAG": (Stance.REFUTE, [("Sources differ.", ("s1", "c1", "c2", "i1"))]),
    "ConRAG": (Stance.REFUTE, OURS),
    "Oracle": (Stance.REFUTE, OURS),
    "w/o conflict tagging": (Stance.SUPPORT, RELRAG),
    "w/o evidence clustering": (Stance.REFUTE, OURS),
    "w/o uncertainty policy": (Stance.REFUTE, OURS[1:]),
    "w/o citation binding": (Stance.REFUTE, [(text, ("s1", "c1")) for text, _ in OURS]),
}


async def test_every_method_on_a_claim(evaluated: Evaluated, scripted: ScriptedGenerator) -> None:
    result = await evaluated(CLAIM)
    assert list(result.outcomes) == [*METHODS, *ABLATIONS]
    for method, (stance, said) in CLAIM_OUTCOMES.items():
        outcome = result.outcomes[method]
        assert (outcome.stance, [(one.text, one.cites) for one in outcome.statements]) == (
            stance,
            list(said),
        ), method
    assert (result.outcomes["RelRAG"].unbound, result.outcomes["CiteRAG"].unbound) == (1, 0)
    assert {one.about for one in result.outcomes["RelRAG"].statements} == {"support"}
    # One reply from the most relevant passages and one from those chosen without tags, which are
    # the same passages here, and CiteRAG's; ConRAG, Oracle and ConRAG without clusters differ in
    # what they show.
    assert len(scripted.asked("PlainReply")) <= 3
    assert "SUPPORTS" not in prompt_of(scripted.asked("PlainReply")[0])


def changing(change: Callable[[dict[str, Any]], object]) -> Reply:
    """As `writes`, but for a change of each sentence that says what it is about."""

    def reply(request: dict[str, Any]) -> str:
        made = json.loads(writes(request))
        for sentence in made.get("sentences", []):
            if "about" in sentence:
                change(sentence)
        return json.dumps(made)

    return reply


async def test_what_a_policy_drops_is_recorded_and_counted(evaluated: Evaluated) -> None:
    """ConRAG's sentence speaks for the claim and cites what denies it."""

    def wrong(sentence: dict[str, Any]) -> None:
        if sentence["about"] == "support":
            sentence["cites"] = [2, 9]

    result = await evaluated(CLAIM, changing(wrong))
    said = {name: outcome.statements for name, outcome in result.outcomes.items()}
    assert [(one.cites, one.dropped) for one in said["ConRAG"]] == [((), ("c1",)), (("c1",), ())]
    assert said["NLI-RAG"][0].dropped == ("s1",), "on the side that lost"
    assert {one.dropped for one in said["w/o citation binding"]} == {()}
    # One citation of two bears its sentence out; the dropped one does not.
    precision, recall, statements = metrics.citations([result], "ConRAG")
    assert precision is not None
    assert recall is not None
    assert (precision.value, recall.value, statements) == (0.5, 0.5, 2)
    assert ClaimResult.model_validate_json(result.model_dump_json()) == result


async def test_a_question_is_answered_first_and_its_answers_judged(
    evaluated: Evaluated, scripted: ScriptedGenerator
) -> None:
    result = await evaluated(QUESTION)
    assert result.question is not None
    assert result.question.first_answer == ("The bridge was opened in 1932.",)
    assert list(result.question.worth) == [*METHODS, *ABLATIONS]
    assert result.tags == {"s1": S, "c1": C, "c2": C, "i1": I}
    assert result.truth == {"s1": S}
    # Who knows that one passage has the answer, and of no other, shows no conflict.
    oracle = next(
        request
        for request in scripted.asked("QuestionReply")
        if "CONTRADICTS, group" not in prompt_of(request)
    )
    assert fenced_text(oracle, "FIRST ANSWER") == "The bridge was opened in 1932."
    worth = result.question.worth["RelRAG"]
    assert (worth.recall, worth.citations.sentences) == (1, 3)
    assert result.question.worth["ConRAG"].recall == 0


class Years(KnownLabels):
    """A passage supports the year that it has, and contradicts any other."""

    async def __call__(self, claims: Sequence[str], documents: Sequence[Document]) -> Judgements:
        def says(claim: str, text: str) -> Relation:
            if claim[-5:-1] in text:
                return S
            return C if "19" in text else I

        judged = (
            Judgement(claim=claim, document=one.id, relation=says(claim, one.text), source="years")
            for claim in claims
            for one in documents
        )
        return Judgements(tuple(judged))


async def test_a_judge_reads_what_is_written_on_sentences_of_responses(
    scripted: ScriptedGenerator,
) -> None:
    """Table VI: of two sentences of ConRAG's, one for 1932 and one for 1936, both contradict.

    Each has passages of the packet against it, and the other sentence cites them.
    """
    where = ResponseSentence(response="r", source="s", tokens=6, hallucinated=1)
    sentence = replace(CLAIM, source="ragtruth", evidence=(), relations={}, response=where)

    def years(said: dict[str, Any]) -> None:
        early = said["about"] == "support"
        year, cites = ("1932", [1]) if early else ("1936", [2, 3])
        said |= {"sent": f"It was in {year}.", "cites": cites}

    async with scripted(changing(years)) as generator:
        labels, judge = KnownLabels(), Years()
        results = [
            await evaluate(
                sentence, FOUND, labels, ConragSettings(), generator, citation_judge=judge
            )
        ]
    for method, hidden in (("ConRAG", 0), ("w/o uncertainty policy", 1)):
        rate = metrics.contradiction_rate(results, method)
        undisclosed = metrics.contradiction_rate(results, method, undisclosed=True)
        assert (rate and rate.value, undisclosed and undisclosed.value) == (1, hidden)
    (row,) = [
        row for row in own_rows(hallucinations({"ragtruth": results}))
        if row["method"] == "ConRAG"
    ]  # fmt: skip
    assert row["contradiction_rate"] == metrics.contradiction_rate(results, "ConRAG")
    assert ClaimResult.model_validate_json(results[0].model_dump_json()) == results[0]


async def test_what_cannot_be_read_is_counted_apart(evaluated: Evaluated) -> None:
    results = [await evaluated(CLAIM, lambda _: "{")]
    for method in ("RelRAG", "ConRAG"):
        outcome = results[0].outcomes[method]
        assert (outcome.statements, outcome.raw) == ((), "{")
        assert metrics.unreadable(results, method) == 1
    # ConRAG's stance is a rule's, RelRAG's the model's, which nobody could read.
    right = {name: metrics.stance_right(results[0], name) for name in METHODS[:4]}
    assert right == {"RelRAG": None, "NLI-RAG": 1, "CiteRAG": None, "ConRAG": 1}
    assert metrics.coverage(results, "RelRAG") is None
    assert metrics.EVIDENCE.of(Line("own", "ConRAG", results)) is None
    assert metrics.contradictions_per_claim(results, "ConRAG") == {}

    asked = [await evaluated(QUESTION, first_then('{"answers": ["1932"]}', "{"))]
    assert metrics.citations(asked, "ConRAG") == (None, None, 0)
    assert metrics.RECALL.of(Line("own", "ConRAG", asked)) is None


async def test_an_unreadable_first_answer_is_no_abstention(evaluated: Evaluated) -> None:
    results = [await evaluated(QUESTION, first_then('{"answers": ["19'))]
    assert results[0].question is not None
    assert results[0].question.raw == '{"answers": ["19'
    for method in ("ConRAG", "w/o evidence clustering", "w/o citation binding"):
        assert (results[0].outcomes[method].problem or "").startswith("first answer: not the JSON")
        assert metrics.citations(results, method) == (None, None, 0)
    for method in ("RelRAG", "Oracle"):
        assert results[0].outcomes[method].problem is None
    assert metrics.leakage(results, "RelRAG") is None, "nothing was tagged"
