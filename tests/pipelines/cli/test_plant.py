"""`contested plant` and `contested run planted`, as a person meets them."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Contested, contents, kill_midway, ours, table
from pages import unpacked
from scripted import Scripted, fenced_text
from tagging import REFUTE, SUPPORT, UNSURE, ScriptedTagger, offer

from nli.pairs import Pair
from pipelines.cli.index import SAMPLES as DOCUMENTS
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.conflictscore.detection.baselines import ALWAYS, LEXICAL
from pipelines.conflictscore.planted.experiment import SAMPLES
from pipelines.conflictscore.planted.tables import NEVER
from pipelines.evidence.examples import ContestedClaim, read
from pipelines.text.substitution import has_words
from pipelines.text.words import content_words

MILL = (
    "The mill at Aldham ground 2,400 sacks of flour in a good year. The mill wheel was repaired "
    "after the flood of March 1801. The bakers of the town should buy local flour, most people say."
)
HARBOUR = (
    "The Northern Star was launched in 1822 and lost in 1839. A captain sailed from the harbour "
    "in Whitby with 31 men. The council has repaired the pier."
)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"mill.txt": MILL, "harbour.txt": HARBOUR}.items():
        path = Path("notes") / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def knows(pair: Pair) -> tuple[float, float, float]:
    """A text supports what it says word for word, and refutes what it says otherwise."""
    if pair.hypothesis in pair.premise:
        return SUPPORT
    wanted = content_words(pair.hypothesis)
    shared = len(wanted & content_words(pair.premise)) / len(wanted)
    return REFUTE if shared >= 0.6 or " not " in pair.premise else UNSURE


PLANT = ["plant", "--documents", "notes"]
RUN = ["run", "planted", "--data", "planted.jsonl", "--out", "out"]


def made(name: str = "planted.jsonl") -> tuple[ContestedClaim, ...]:
    return read(Path(name)).examples


# Planting


def test_documents_become_a_balanced_set_of_known_truth(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = offer(monkeypatch, ScriptedTagger(knows))
    said = contested.done(*PLANT)
    found = made()
    assert sum(each.conflict for each in found) * 2 == len(found)
    assert {each.source for each in found} == {"numbers", "dates", "negation", "namesakes"}
    for each in found:
        assert each.plant is not None
        assert each.plant.checked
        assert each.plant.document in {"mill.txt", "harbour.txt"}
        assert (each.plant.control is None) == each.conflict
        assert each.plant.type in {*ConflictType}
    assert f"{len(found)} examples, half of them with a conflict: planted.jsonl" in said.err
    rows = {tuple(line.replace("│", " ").split()) for line in said.out.splitlines()}
    assert ("dates", "2", "0", "2", "0") in {row[:5] for row in rows}
    first = Path("planted.jsonl").read_bytes()
    asked = len(tagger.batches)
    contested.done(*PLANT)
    assert Path("planted.jsonl").read_bytes() == first
    assert len(tagger.batches) == asked, "the second time the store knows"
    contested.done(*PLANT, "--seed", "1")
    assert Path("planted.jsonl").read_bytes() != first


def test_what_the_tagger_does_not_see_is_left_out_or_marked(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(pair: Pair) -> tuple[float, float, float]:
        return UNSURE if "wheel" in pair.hypothesis else knows(pair)

    offer(monkeypatch, ScriptedTagger(blind))
    contested.done(*PLANT)
    seen = {each.id for each in made()}
    assert not any("wheel" in each.claim for each in made())
    contested.done(*PLANT, "--keep-unchecked", "--out", "all.jsonl")
    unseen = [each for each in made("all.jsonl") if each.id not in seen]
    assert unseen
    for each in made("all.jsonl"):
        assert each.plant is not None
        assert each.plant.checked == (each.id in seen) == ("wheel" not in each.claim)


def test_a_claim_too_long_for_the_tagger_is_not_seen(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "The mill at Aldham ground 2,400 sacks of flour in a good year."
    offer(monkeypatch, ScriptedTagger(knows, too_long=(long,)))
    contested.done(*PLANT)
    assert long not in {each.claim for each in made()}


def test_kinds_limits_and_a_dry_run(contested: Contested, monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = offer(monkeypatch, ScriptedTagger(knows))
    said = contested.done(*PLANT, "--kinds", "numbers, dates", "--dry-run").out
    assert "2 passages; 4 pairs could be planted: 2 of numbers, 2 of dates" in said
    assert "8 pairs of claim and passage for the tagger to check" in said
    assert not tagger.batches
    assert not Path("planted.jsonl").exists()
    contested.done(*PLANT, "--kinds", "numbers,dates", "--limit", "3")
    assert len(made()) == 6
    assert {each.source for each in made()} == {"numbers", "dates"}


def test_files_folders_and_lines_are_read_alike(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(knows))
    contested.done("plant", "--documents", "notes/harbour.txt", "notes/mill.txt")
    by_name = Path("planted.jsonl").read_bytes()
    contested.done(*PLANT)
    assert Path("planted.jsonl").read_bytes() == by_name
    rows = [{"id": "harbour.txt", "text": HARBOUR}, {"id": "mill.txt", "text": MILL}]
    Path("notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    contested.done("plant", "--documents", "notes.jsonl")
    assert Path("planted.jsonl").read_bytes() == by_name


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["plant", "--documents", "nowhere.txt"], "nowhere.txt does not exist"),
        (["plant", "--documents", "empty"], "empty holds no document"),
        (["plant", "--documents", "quiet.txt"], "no fact was found in 1 passages"),
        ([*PLANT, "--kinds", "outdated"], "no fact was found in 2 passages that outdated could"),
        ([*PLANT, "--kinds", "colours"], "--kinds is 'colours'; it can be numbers, dates"),
        ([*PLANT, "--kinds", "opinions"], "--kinds opinions needs a language model"),
        ([*PLANT, "--model", "big"], "--model has no effect with a run without --rewrite"),
        ([*PLANT, "--out", "notes"], "--out notes is a file that is read"),
        ([*PLANT, "--out", "quiet.txt/x.jsonl"], "cannot be written (a part of its path is a file"),
        ([*PLANT, "--limit", "0"], "--limit"),
    ],
)
def test_refusals_are_one_line_and_write_nothing(
    command: list[str], said: str, contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = offer(monkeypatch, ScriptedTagger(knows))
    Path("empty").mkdir()
    Path("quiet.txt").write_text("Nothing is said here. Why not?")
    before = contents(Path())
    assert said in contested.refused(*command)
    assert contents(Path()) == before
    assert not tagger.batches


def test_where_nothing_took_the_old_file_stays(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger())
    Path("planted.jsonl").write_text("old")
    line = contested.refused(*PLANT)
    assert "the tagger sees none of" in line
    assert "--keep-unchecked keeps them" in line
    assert Path("planted.jsonl").read_text() == "old"


# Rewriting


def written(request: dict[str, Any]) -> str:
    """Turns sentences about the mill round; of others it forgets the value."""
    sentence = fenced_text(request, "SENTENCE")
    if "opposite opinion" in request["messages"][-1]["content"]:
        return json.dumps({"sentence": "The bakers of the town should not buy local flour."})
    if "mill" not in sentence:
        return json.dumps({"sentence": "Something was launched or sailed some time ago."})
    return json.dumps({"sentence": f"As is well known, {sentence}"})


def test_a_model_writes_and_is_held_to_the_plant(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(knows))
    endpoint.reply = written
    given = [*PLANT, "--rewrite", "--endpoint", endpoint.url, "--keep-unchecked"]
    told = contested.done(*given, "--dry-run").out
    calls = int(told.splitlines()[-1].split()[0])
    assert not endpoint.requests
    contested.done(*given)
    assert len(endpoint.requests) == calls
    found = [each for each in made() if each.conflict]
    assert "opinions" in {each.source for each in found}
    for each in found:
        plant = each.plant
        assert plant is not None
        about_the_mill = "mill" in each.claim
        by_model = about_the_mill or plant.kind == "opinions"
        assert plant.by == ("model" if by_model else "rule")
        (copy,) = [text.text for text in each.documents if text.text not in (MILL, HARBOUR)]
        if plant.kind == "opinions":
            assert (plant.type, plant.new) == (
                "opinions",
                "The bakers of the town should not buy local flour.",
            )
        else:
            assert has_words(copy, plant.new)
            assert not has_words(copy, plant.old)
            assert ("As is well known, The mill" in copy) == about_the_mill
    left = Path("planted.jsonl").read_bytes()
    contested.done(*given)
    assert len(endpoint.requests) == calls, "the second time the cache answers"
    assert Path("planted.jsonl").read_bytes() == left


def test_an_opinion_without_an_opposite_is_left_out(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(knows))
    endpoint.reply = lambda _: json.dumps({"sentence": "Who knows?"})
    said = contested.done(*PLANT, "--rewrite", "--endpoint", endpoint.url)
    assert "1 opinions of which the model wrote no opposite are left out" in said.err
    assert "opinions" not in {each.source for each in made()}
    assert all(each.plant and each.plant.by == "rule" for each in made())


def test_a_killed_rewriting_is_resumed(contested: Contested, endpoint: Scripted) -> None:
    """With the shipped tagger, in a process of its own."""
    endpoint.reply = written
    endpoint.delay_s = 0.3
    given = [*PLANT, "--rewrite", "--keep-unchecked", "--endpoint", endpoint.url]
    kill_midway([*given, "--concurrency", "1"], lambda: len(endpoint.requests) > 3)
    assert not Path("planted.jsonl").exists()
    before = len(endpoint.requests)
    endpoint.delay_s = 0
    calls = int(contested.done(*given, "--dry-run").out.splitlines()[-1].split()[0])
    contested.done(*given)
    assert len(endpoint.requests) <= calls + 2, "few were asked twice"
    assert before > 3
    assert made()


# Measuring


def rows(detector: str) -> dict[str, dict[str, Any]]:
    found = {row["kind"]: row for row in ours("planted") if row["detector"].startswith(detector)}
    assert found, detector
    return found


def test_a_labeller_is_measured_by_kind_beside_who_needs_no_model(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(knows))
    contested.done(*PLANT)
    told = contested.done(*RUN, "--labeller", "nli", "--dry-run").out
    assert f"{len(made())} examples from planted.jsonl, {len(made()) // 2} of them" in told
    contested.done(*RUN, "--labeller", "nli")
    tagger, always, never, lexical = map(rows, ("nli", ALWAYS, NEVER, LEXICAL))
    assert set(tagger) == {"numbers", "dates", "negation", "namesakes", "overall"}
    assert tagger["numbers"]["f1"] == tagger["dates"]["accuracy"] == 1
    assert tagger["namesakes"]["precision"] == 0.5, "another of the name is taken for the same"
    for kind in tagger:
        assert always[kind]["accuracy"] == never[kind]["accuracy"] == 0.5
        assert (always[kind]["recall"], never[kind]["recall"]) == (1, 0)
        assert lexical[kind]["examples"] == tagger[kind]["examples"]
    page = Path("out/report.html").read_text("utf-8")
    assert "Who notices conflicts that were planted in documents?" in page
    assert "What the tagger could not see was left out, which favours it." in page
    shown = json.dumps([each["blocks"] for each in unpacked(page)])
    assert "Planted" in shown
    assert "another Northern Star" in shown
    assert Path("out/planted-errors.jsonl").read_text().count("\n") == 1, "the one namesake"
    left = contents(Path("out"))
    contested.done(*RUN, "--labeller", "nli")
    assert contents(Path("out")) == left


def test_conflict_detection_reads_the_file_too(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(knows))
    contested.done(*PLANT)
    contested.done("run", "conflict-detection", "--data", "planted.jsonl", "--labeller", "nli")
    found = {row["source"] for row in table(Path("results"), "conflict_detection")}
    assert {"numbers", "overall"} <= found


def test_answers_are_scored_beside_the_first_document(
    contested: Contested, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a scripted judge: both sides are supported by both, one side by the one that says so."""
    offer(monkeypatch, ScriptedTagger(knows))
    contested.done(*PLANT, "--kinds", "numbers,dates")

    def weigh(request: dict[str, Any]) -> list[float]:
        claim, document = (fenced_text(request, name) for name in ("CLAIM", "DOCUMENT"))
        if claim.startswith("Documents disagree") or claim in document:
            return [0.9, 0.05, 0.05]
        about = content_words(claim) & content_words(document)
        return [0.1, 0.8, 0.1] if len(about) >= 0.6 * len(content_words(claim)) else [0.1, 0.1, 0.8]

    endpoint.weigh = weigh
    answers = []
    for each in made():
        assert each.plant is not None
        both = f"Documents disagree: {each.plant.old} or {each.plant.new}."
        answers.append({"id": each.id, "response": both if each.conflict else each.claim})
    Path("mine.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    given = ["--responses", "mine.jsonl", "--claims", "sentences", "--endpoint", endpoint.url]
    told = contested.done(*RUN, *given, "--dry-run").out
    assert f"{len(answers)} of them have an answer, scored beside the first document" in told
    contested.done(*RUN, *given)
    found = {row["who"]: row for row in table(Path("out"), "planted_answers")
             if row["kind"] == "overall"}  # fmt: skip
    yours, copied = found["your answers"], found["the first document"]
    assert (yours["admits"], yours["both"], yours["cs_c"]) == (1, 1, 0)
    assert (copied["admits"], copied["both"], copied["cs_c"]) == (0, 0, 1)
    assert yours["none"] == copied["none"] == 0
    assert yours["answers"] == len(answers)
    entry = json.loads(Path("out/run.json").read_text())["pipelines"]["planted.llm-choice-mine"]
    assert entry["config"]["responses"]["name"] == "mine.jsonl"
    assert entry["config"]["settings"]["claims"] == "sentences"
    contested.done(*RUN, "--labeller", "nli")
    names = {row["detector"] for row in ours("planted")}
    assert len(names) == 5, "two judges in one table, and three without a model"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--claims", "sentences"], "--claims has no effect with a run without --responses"),
        (["--responses", "none.jsonl"], "none.jsonl does not exist"),
        (["--responses", "else.jsonl"], "else.jsonl answers no example of the data"),
        (["--data", "bare.jsonl"], "'bare' is no planted example"),
    ],
)
def test_a_run_that_cannot_be_is_refused(
    options: list[str], said: str, contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(knows))
    contested.done(*PLANT)
    Path("else.jsonl").write_text('{"id": "mine", "response": "No."}\n')
    bare = {"id": "bare", "source": "s", "claim": "A claim.", "conflict": False}
    Path("bare.jsonl").write_text(
        json.dumps(bare | {"documents": [{"id": "d", "text": "A text."}]}) + "\n"
    )
    assert said in contested.refused(*RUN, "--labeller", "nli", *options)
    assert not Path("out").exists()


# The shipped tagger, and the bundled sample


def test_the_shipped_tagger_on_bundled_documents(contested: Contested) -> None:
    documents = [DOCUMENTS / f"vinland-map-{name}.md" for name in ("1965", "davis", "mccrone")]
    contested.done("plant", "--documents", *documents, "--keep-unchecked")
    found = made()
    checked = [each for each in found if each.plant and each.plant.checked]
    assert 0 < len(checked) <= len(found)
    contested.done(*RUN, "--labeller", "nli")
    sets = {row["plants"] for row in ours("planted")}
    assert sets == ({"seen by the tagger", "all"} if len(checked) < len(found) else sets)
    seen = [
        row
        for row in ours("planted", plants="seen by the tagger", kind="overall")
        if row["detector"].startswith("nli")
    ]
    assert seen[0]["recall"] == 1, "it sees what it was asked whether it sees"


def test_the_bundled_sample_is_what_is_made_of_the_bundled_documents(
    contested: Contested, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, ScriptedTagger(knows))
    contested.done("plant", "--limit", "12", "--keep-unchecked")

    def plain(example: ContestedClaim) -> ContestedClaim:
        """Whether it was seen is the shipped tagger's verdict, and another here."""
        assert example.plant is not None
        plant = example.plant.model_copy(update={"checked": True})
        return example.model_copy(update={"plant": plant})

    bundled = read(SAMPLES).examples
    assert [plain(each) for each in bundled] == [plain(each) for each in made()]
