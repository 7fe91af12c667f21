"""`contested annotate`, as a person meets it: twenty pairs labelled by keyboard alone."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from annotations import ENTRY, C, I, S, subject, write_run
from commands import Contested, contents, records, table, write
from pages import watch
from playwright.sync_api import Browser, Page, expect

from pipelines.annotation.responses import to_label
from pipelines.annotation.sample import Labels, Subject, opened
from pipelines.cli.run import publish
from pipelines.npov.example import NpovExample, Perspectives, read_annotated
from pipelines.npov.responses import Drawn
from pipelines.runs.folder import RunFolder

KEPT = Path(f"out/annotations/{ENTRY}.relation")
HOSTILE = (
    "</p><script>document.title='taken over'</script><img src=x onerror=alert(1)> \u202ereversed"
)
LABELS = [S] * 20 + [C] * 10 + [I] * 10


@contextmanager
def annotating(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """The command in a process of its own, the address that it prints, and the lines before."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", "annotate", "out", *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("open "):
            break
    else:
        raise AssertionError(process.communicate()[1])
    yield process, lines.pop().split()[1], lines
    process.kill()
    process.communicate()


@contextmanager
def shown(chromium: Browser, address: str, title: str) -> Iterator[Page]:
    """The page; whatever is done on it, nothing runs that is not its own."""
    page = chromium.new_page(viewport={"width": 400, "height": 700})
    trouble: list[str] = []
    watch(page, trouble)
    page.goto(address)
    yield page
    assert [each for each in trouble if "ERR_CONNECTION_REFUSED" not in each] == []
    assert page.locator("#item img, #item script").count() == 0
    assert page.title() == title
    page.close()


def at(page: Page, place: int) -> None:
    expect(page.locator("#place")).to_have_text(f"{place} of 20")


@pytest.mark.browser
def test_twenty_pairs_by_keyboard_alone_though_the_server_is_killed(
    chromium: Browser, contested: Contested
) -> None:
    write_run(LABELS, texts=[HOSTILE] * 40)
    own = subject(Path("out"))
    drawn = opened(own, 20, None, None).items
    assert Counter(own.items[item].label for item in drawn) == {
        "SUPPORTS": 6, "CONTRADICTS": 7, "IRRELEVANT": 7,
    }  # fmt: skip
    # The person says as the judge does, but of every second SUPPORTS that it is irrelevant.
    supported = [item for item in drawn if own.items[item].label == "SUPPORTS"]
    says = {item: str(own.items[item].label) for item in drawn}
    says |= dict.fromkeys(supported[::2], "IRRELEVANT")
    keys = [str(1 + ["SUPPORTS", "CONTRADICTS", "IRRELEVANT"].index(says[each])) for each in drawn]

    with annotating("--sample", "20", "--annotator", "anna") as (process, address, lines):
        assert lines == [
            "20 pairs of claim and document to label, drawn by label from 40; 0 of them done\n"
        ]
        with shown(chromium, address, f"{ENTRY}: relation") as page:
            at(page, 1)
            expect(page.locator("#item")).to_contain_text("<script>document.title")
            assert "\u202e" not in page.locator("#item").inner_text()
            page.keyboard.press("ArrowRight")
            at(page, 2)
            page.keyboard.press("ArrowLeft")
            wrong = str(1 + int(keys[0]) % 3)
            for key in (wrong, "u", *keys[:8]):  # a slip, taken back
                page.keyboard.press(key)
            at(page, 9)
            process.kill()
            process.wait()
            page.keyboard.press(keys[8])
            expect(page.locator("#said")).to_contain_text("`contested annotate` has ended")
    kept = records(KEPT / "anna.jsonl")
    assert [(each["id"], each["label"]) for each in kept[2:]] == list(says.items())[:8]
    assert kept[1]["label"] is None
    with (KEPT / "anna.jsonl").open("a") as file:
        file.write('{"id": "[')  # what a kill leaves of a write

    with annotating("--annotator", "anna") as (process, address, lines):
        assert "8 of them done" in lines[0]
        refusal = contested.refused("annotate", "out", "--annotator", "anna")
        assert "is open in another `contested annotate`" in refusal
        with shown(chromium, address, f"{ENTRY}: relation") as page:
            at(page, 9)
            for key in keys[8:]:
                page.keyboard.press(key)
            expect(page.locator("#done")).to_have_text("all labelled")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        written = "report: out/report.html   tables: out/tables\n"
        assert (process.returncode, err) == (0, f"20 of 20 labelled, in {KEPT}\n{written}")
    assert "Agreement with the judge" in Path("out/report.html").read_text("utf-8")

    contested.done("annotate", "out", "--results")
    # Strata of 10, 10 and 20 of 40: she agrees on 7 of 7, 7 of 7 and 3 of 6.
    (agreement,) = table(Path("out"), "annotation_agreement")
    assert (agreement["labelled"], agreement["items"], agreement["accuracy"]) == (20, 40, 0.75)
    ben = Labels(own, drawn, "ben")
    for item, label in says.items():
        ben.give(item, label)
    contested.done("annotate", "out", "--results")
    (people,) = table(Path("out"), "annotation_people")
    assert (people["both"], people["agree"], people["alpha"]) == (20, 1, 1)


def write_responses(count: int) -> Subject:
    """A study of which the first three steps are done; its responses, to label for coverage."""
    folder = RunFolder(Path("out"))
    folder.begin("study.responses", {}, {})
    folder.note("study.responses", {"told": ["Responses: 10."]})
    for number in range(count):
        given = Perspectives(topic="Dams", question="Dams?", pro=("They pay.",), con=("Fish die.",))
        example = NpovExample(
            **given.model_dump(), response=f"Supporters say that they pay. Number {number}."
        )
        drawn = Drawn(id=f"Dams/{number}", given=given, temperature=0.7, example=example)
        folder.log("study.responses", Drawn).append(drawn)
    return to_label(folder)[1]


@pytest.mark.browser
def test_two_people_label_the_responses_of_a_study(chromium: Browser, contested: Contested) -> None:
    responses = write_responses(10)
    # Anna says of six that nothing is left out, of four that an argument is; Ben sees one less.
    says = {"anna": dict.fromkeys(responses.items, "1")}
    says["anna"] |= dict.fromkeys(list(responses.items)[:4], "2")
    says["ben"] = says["anna"] | {"Dams/0": "1"}
    for annotator, keys in says.items():
        for kind in ("hallucination", "coverage"):
            with annotating("--kind", kind, "--annotator", annotator) as (process, address, lines):
                assert lines == ["10 responses to label; 0 of them done\n"]
                with shown(chromium, address, f"study.responses: {kind}") as page:
                    expect(page.locator("#item")).to_contain_text("Fish die.")
                    drawn = json.loads(
                        Path(f"out/annotations/study.responses.{kind}/sample.json").read_text()
                    )
                    for item in drawn["items"]:
                        page.keyboard.press(keys[item] if kind == "coverage" else "1")
                    expect(page.locator("#done")).to_have_text("all labelled")
                process.send_signal(signal.SIGINT)
                assert process.wait(60) == 0
    contested.done("annotate", "out", "--results")
    _, people = table(Path("out"), "annotation_people")
    # 20 labels, 13 and 7 of a kind; one response of two labels that differ:
    # D_o = 2 / 20, D_e = (400 - 169 - 49) / 380.
    assert people["annotators"] == "anna, ben"
    assert people["alpha"] == pytest.approx(1 - 0.1 / (182 / 380))
    labels = {each.id: each for each in read_annotated(Path("out/study.labels.jsonl"))}
    errors = [labels[f"Dams/{number}"].coverage for number in range(10)]
    assert errors == ["ambiguous", *["full"] * 3, *["none"] * 6]
    votes = {name: vote.coverage for name, vote in labels["Dams/0"].votes.items()}
    assert votes == {"anna": "full", "ben": "none"}
    assert {each.hallucination for each in labels.values()} == {"none"}


def test_the_page_of_the_run_has_it_and_says_when_it_is_out_of_date(contested: Contested) -> None:
    write_run(LABELS)
    own = subject(Path("out"))
    drawn = opened(own, 20, None, None).items
    anna = Labels(own, drawn, "anna")
    for item in drawn:
        anna.give(item, "SUPPORTS")
    contested.done("annotate", "out", "--results")
    page = Path("out/report.html").read_text("utf-8")
    assert "Agreement with the judge" in page
    write_run([*LABELS, S])  # the run was resumed with more examples
    publish(RunFolder(Path("out")))
    page = Path("out/report.html").read_text("utf-8")
    assert "Agreement with the judge" not in page
    assert "Human labels are left out" in page
    assert "drawn from other results" in contested.refused("annotate", "out", "--results")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["annotate", "out", "--annotator", "../x"], "--annotator '../x' cannot be part of a file"),
        (
            ["annotate", "out", "--entry", "conrag"],
            "no run has such labels; name one of: --entry conflict",
        ),
        (["annotate", "out", "--results"], "out has no labels by people yet"),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: list[str], said: str, contested: Contested
) -> None:
    write_run(LABELS)
    before = contents(Path("out"))
    assert said in contested.refused(*arguments)
    assert contents(Path("out")) == before


def test_damaged_labels_are_refused(contested: Contested) -> None:
    write_run(LABELS)
    own = subject(Path("out"))
    drawn = opened(own, 20, None, None).items
    Labels(own, drawn, "anna").give(drawn[0], "SUPPORTS")
    path = KEPT / "anna.jsonl"
    good = path.read_text()
    for bad in ('{"id": "x"}\n', "no JSON\n"):
        path.write_text(good + bad)
        for command in (["--annotator", "anna"], ["--results"]):
            assert f"{path}:2: not a result" in contested.refused("annotate", "out", *command)
    other = next(item for item in own.items if item not in drawn)
    line = json.loads(good)
    for changed in ({"label": "MAYBE"}, {"id": other}):
        write(path, line | changed)
        said = contested.refused("annotate", "out", "--results")
        assert "which does not belong to this sample; remove the line" in said
