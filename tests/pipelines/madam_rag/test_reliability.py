"""What the aggregator may be told of the other documents."""

from pathlib import Path

from debates import asking, documents, schema_of
from known_labels import KnownLabels
from scripted import prompt_of

from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.madam_rag.debate import debate, panel, reliability
from pipelines.madam_rag.replies import AgentReply, Reliability
from pipelines.madam_rag.settings import DebateSettings

QUESTION = "When was the mill built?"


def supports_1856(document: Document) -> Relation:
    if "1856" in document.text:
        return Relation.SUPPORTS
    return Relation.CONTRADICTS if "1902" in document.text else Relation.IRRELEVANT


async def test_every_other_document_is_counted() -> None:
    texts = ("Built in 1856.", "Since 1856.", "Built in 1902.", "Flour.")
    labeller = KnownLabels(supports_1856)
    replies = [AgentReply(answer=answer) for answer in ("1856", "1856", None, "unknown")]
    found = await reliability(QUESTION, replies, documents(*texts), labeller)
    # Of agent 1's answer: document 2 supports it, document 3 contradicts it, document 4 neither.
    one = Reliability(support=1, refute=1, others=3)
    assert found == (one, one, None, None)
    claim = "The mill was built in 1856."
    assert sorted(labeller.asked) == sorted((claim, text) for text in texts)


async def test_the_aggregator_is_told_and_nobody_else(tmp_path: Path) -> None:
    given = documents("Built in 1856.", "Since 1856.", "Flour.")
    async with asking(tmp_path) as (client, requests):
        by = panel(client, labeller=KnownLabels(supports_1856))
        held = await debate(QUESTION, given, by, DebateSettings(rounds=1))
        plain = await debate(QUESTION, given, panel(client), DebateSettings(rounds=1))
    one = Reliability(support=1, refute=0, others=2)
    assert held.rounds[0].reliability == (one, one, None)
    assert plain.rounds[0].reliability == ()
    told, untold = (prompt_of(r) for r in requests if schema_of(r) == "ConclusionJson")
    line = "Of 2 other documents, 1 support the next answer and 0 contradict it."
    assert told.count(line) == 2
    assert line not in untold
    assert not any(line in prompt_of(r) for r in requests if schema_of(r) == "AgentJson")
    assert "decide nothing" in told
    assert "decide nothing" not in untold
    # The agents' replies of the first debate serve the second.
    assert len(requests) == 3 + 1 + 1


async def test_one_document_has_no_others(tmp_path: Path) -> None:
    replies = [AgentReply(answer="1856")]
    found = await reliability(QUESTION, replies, documents("Built in 1856."), KnownLabels())
    assert found == (Reliability(support=0, refute=0, others=0),)
