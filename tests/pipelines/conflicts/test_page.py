"""A query on the page: verdicts beside sentences, and hostile texts that stay texts."""

from pages import CLOSES, RUNS, every, published, safe, unpacked

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.experiment import EXPERIMENT
from pipelines.conflicts.result import (
    Answer,
    Grounding,
    Grounds,
    Outcome,
    QueryResult,
    Sentence,
    SentenceGrounding,
    Verdicts,
)
from pipelines.conflicts.taxonomy import ConflictType, Prediction
from pipelines.conflicts.view import content, live
from pipelines.report import texts
from pipelines.report.explorer import render

SOURCES = (
    Source(text=f"Aldham has 14 parishes. {CLOSES}", url="https://aldham.example/2012?a=1&b=2"),
    Source(text="Aldham has 13 parishes.", url="javascript:alert(1)", title=f"Today {RUNS}"),
    Source(text="Aldham lies in Essex.", url=f"data:text/html,{RUNS}"),
)
GROUNDED = Grounding(
    sentences=(
        SentenceGrounding(grounds=Grounds.SUPPORTED, sources=(2,), quote=f"13 parishes {RUNS}"),
        SentenceGrounding(grounds=Grounds.CONTRADICTORY, reason="Source 2 says 13."),
        SentenceGrounding(grounds=None, problem="no verdict", raw=CLOSES),
        SentenceGrounding(grounds=Grounds.NO_FACT),
    )
)
SAID = Answer(
    text="Aldham has 13 parishes [2]. Once it had 14 [1][9]. It may be more. I hope so.",
    sentences=(
        Sentence(text=f"Aldham has 13 parishes. {RUNS}", cites=(2,)),
        Sentence(text="Once it had 14.", cites=(1,), unknown=(9,)),
        Sentence(text="It may be more."),
        Sentence(text="I hope so."),
    ),
)
BROKEN = Answer(text="", problem="the reply has no answer", raw=f"Sorry. {RUNS}{CLOSES}")
ANSWERED = QueryResult(
    id="17",
    asked=Query(
        id="17",
        query=f"How many parishes has Aldham? {RUNS}",
        sources=SOURCES,
        conflict_type=ConflictType.OUTDATED,
        gold_answer=f"13 {RUNS}",
    ),
    status="answered",
    predictions={"json": Prediction(type=None, by="json", problem="no JSON", raw=CLOSES)},
    outcomes={
        "vanilla": Outcome(answer=BROKEN),
        "pipeline": Outcome(answer=SAID, judged=Verdicts(grounding=GROUNDED)),
    },
)


def test_only_web_addresses_are_links() -> None:
    dead = (
        None, "", "a.example", "//a.example", "javascript:alert(1)", " javascript:alert(1)",
        "java\nscript:alert(1)", "data:text/html,<script>", "ftp://a.example", "https:a.example",
        "https://", "https:///a", "https://a.example/\u2028b", "https://a.example/\u202eb",
        "https://a.example/ b", "https://a.example\x00",
    )  # fmt: skip
    assert not any(map(live, dead))
    assert all(map(live, ("https://a.example/b?c=d#e", "HTTP://a.example")))


def test_sentences_stand_beside_their_verdicts() -> None:
    sentences = every(content(ANSWERED), texts.Sentence)
    assert [each.verdict.text for each in sentences if each.verdict] == [
        "supported", "contradictory", "verdict unreadable", "no factual information",
    ]  # fmt: skip


def test_forged_markup_stays_text() -> None:
    model = {"name": "m", "digest": "1" * 64}
    config = {"model": model, "data": {"name": "d.jsonl"}, "settings": {"types": "choice"}}
    view = published(EXPERIMENT, {"conflicts": [ANSWERED]}, config).view
    safe(made := render("CONFLICTS", [view], {}))
    query = unpacked(made)[0]
    assert query["title"].endswith(RUNS)
    sources = query["blocks"][-1]["sources"]
    assert sources[0]["text"].endswith(CLOSES)
    assert [each.get("linked", False) for each in sources] == [True, False, False]
    stored = str(query["blocks"])
    for text in (str(BROKEN.raw), f"13 parishes {RUNS}"):
        assert text in stored
    assert "<script>document" not in made
