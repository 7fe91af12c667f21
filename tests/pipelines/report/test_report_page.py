"""The page as a file: self-contained, safe, complete."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflictscore import page as conflictscore_page
from pipelines.conflictscore.page import CHARACTERS_SHOWN, locate, section
from pipelines.conflictscore.result import Result
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.evidence.judgement import Relation
from pipelines.metrics.estimate import Estimate
from pipelines.report.page import ModelUsed, Section, embedded, fragment, render, write
from pipelines.report.plots import dots, shares

HOSTILE_PROVENANCE = {"config": {"data": "</pre><script>alert(3)</script>"}}


class Page(HTMLParser):
    """What a browser makes of the page: elements with attributes, scripts, styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.style = ""
        self.text = ""
        self.within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.within = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self.within == "style":
            self.style += data
        else:
            self.text += data

    def data(self, name: str) -> object:
        return next(json.loads(text) for attrs, text in self.scripts if attrs.get("id") == name)


def rendered(results: list[Result]) -> str:
    return render(
        "ConflictScore",
        [section(results, "judge <7b>", "samples")],
        HOSTILE_PROVENANCE,
        models=[ModelUsed("judge", "judge <7b>", "0123456789abcdef" * 4), ModelUsed("x", "far")],
        facts=[("profile", "cpu-small")],
    )


@pytest.fixture(scope="module")
def page(results: list[Result]) -> Page:
    return Page(rendered(results))


def test_nothing_is_fetched(page: Page) -> None:
    for tag, attrs in page.elements:
        assert "src" not in attrs
        assert tag not in ("iframe", "object", "embed", "base", "img")
        for name in ("href", "action", "data"):
            assert re.match(r"#|data:,$", attrs.get(name) or "#"), (tag, attrs)
    assert "@import" not in page.style
    assert "url(" not in page.style


def test_the_policy_allows_the_one_script_and_the_one_style(page: Page) -> None:
    policy = next(a["content"] for t, a in page.elements if a.get("http-equiv")) or ""
    code = [text for attrs, text in page.scripts if attrs.get("type") != "application/json"]

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert len(code) == 1
    assert f"script-src 'sha256-{digest(code[0])}'" in policy
    assert f"style-src 'sha256-{digest(page.style)}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert sum(tag == "style" for tag, _ in page.elements) == 1


def test_no_element_carries_style_or_handlers(page: Page) -> None:
    # The policy would ignore them: a page that relied on them would look wrong.
    for tag, attrs in page.elements:
        assert "style" not in attrs, (tag, attrs)
        assert not any(name.startswith("on") for name in attrs), (tag, attrs)


def test_hostile_text_stays_text(page: Page, results: list[Result]) -> None:
    assert "alert(1)" in page.text
    assert "alert(3)" in page.text
    code = [text for attrs, text in page.scripts if attrs.get("type") != "application/json"]
    assert all("alert" not in text for text in code)
    assert len(page.scripts) == 1 + len(results) + 3  # three distinct tuples of documents


def test_control_characters_are_shown_and_never_sent(results: list[Result]) -> None:
    text = rendered(results)
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "␛[31mred" in text


def test_ids_are_unique_and_links_lead_somewhere(page: Page) -> None:
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.elements:
        if tag == "a":
            assert (attrs["href"] or "")[1:] in ids


def test_the_overview_needs_no_script(page: Page) -> None:
    for text in (
        "judge <7b>",
        "0123456789ab",
        "weights not known",
        "cpu-small",
        "0.42 [",
        "Conflicting claims",
        "of 6; 1 invalid, 1 failed",
        "Is coffee good for the heart?",
        "the server did not answer within 600 seconds",
        "the model saw the first 512 of 1,312 tokens",
    ):
        assert text.replace(" [", " ") in page.text.replace("[", ""), text
    assert "0123456789abc" not in page.text


def test_responses_of_a_record_share_their_documents(page: Page) -> None:
    first, second = page.data("response-1-data"), page.data("response-2-data")
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first["documents"] == second["documents"]
    documents = page.data(first["documents"])
    assert isinstance(documents, list)
    assert [document["id"] for document in documents] == ["cohort", "trial", "review", "column"]
    assert "title" not in documents[3]


def test_claims_carry_their_state(page: Page) -> None:
    content = page.data("response-3-data")
    assert isinstance(content, dict)
    assert [claim["state"] for claim in content["claims"]] == [
        "conflict",
        "undetermined",
        "support",
    ]
    assert content["cuts"] == {"document survey": [512, 1312]}
    assert content["claims"][1]["cells"][2]["raw"].startswith('{"answer"')


def test_a_quotation_is_marked_where_a_browser_counts_it(page: Page) -> None:
    content = page.data("response-3-data")
    assert isinstance(content, dict)
    documents = page.data(content["documents"])
    assert isinstance(documents, list)
    cell = content["claims"][0]["cells"][0]
    units = documents[0]["text"].encode("utf-16-le")
    start, end = cell["span"]
    assert units[2 * start : 2 * end].decode("utf-16-le") == "The bridge measures 412 metres"


def test_a_quotation_that_is_not_there_has_no_place(page: Page) -> None:
    content = page.data("response-1-data")
    assert isinstance(content, dict)
    cell = content["claims"][1]["cells"][1]
    assert cell["snippet"] == "unfiltered coffee harms everyone"
    assert cell["found"] is False
    assert "span" not in cell


@given(st.text(), st.text(), st.text())
def test_what_is_located_is_there(before: str, snippet: str, after: str) -> None:
    text = before + snippet.replace(" ", " \n") + after
    span = locate(snippet, text)
    if not snippet.strip():
        assert span is None
    else:
        assert span is not None
        assert text[slice(*span)].split() == snippet.split() or span[0] < len(before)


@given(st.text())
def test_embedded_json_cannot_leave_its_script(text: str) -> None:
    markup = str(embedded({"text": text}))
    assert not set(markup) & set("<>&")
    assert len(json.loads(markup)["text"]) == len(text)


def test_a_long_document_is_cut_and_says_so(results: list[Result]) -> None:
    tail = "the passage at the end"
    text = "x" * CHARACTERS_SHOWN + tail
    judgement = (
        results[0]
        .judgements[0]
        .model_copy(update={"document": "long", "snippet": tail, "snippet_found": True})
    )
    result = results[0].model_copy(
        update={
            "documents": (Document(id="long", text=text),),
            "claims": (judgement.claim,),
            "judgements": (judgement,),
        }
    )
    parsed = Page(rendered([result]))
    documents = parsed.data("conflictscore-documents-1")
    assert isinstance(documents, list)
    assert len(documents[0]["text"]) == CHARACTERS_SHOWN
    assert documents[0]["length"] == len(text)
    content = parsed.data("response-1-data")
    assert isinstance(content, dict)
    cell = content["claims"][0]["cells"][0]
    assert cell["found"] is True
    assert "span" not in cell


def test_a_large_run_lists_a_part_and_says_so(
    results: list[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conflictscore_page, "RESPONSES_SHOWN", 4)
    parsed = Page(rendered(results))
    assert "The first 4 responses are listed. 2 more stand in conflictscore.jsonl" in parsed.text
    assert sum(attrs.get("class") == "entry" for _, attrs in parsed.elements) == 4
    assert "of 6; 1 invalid, 1 failed" in parsed.text


def test_a_judge_that_gives_one_label_is_remarked_upon(results: list[Result]) -> None:
    assert 'class="remarks"' not in rendered(results)
    judgements = [
        judgement.model_copy(update={"relation": Relation.SUPPORTS, "label_mass": 0.03})
        for judgement in results[0].judgements
    ]
    single = [
        results[0].model_copy(
            update={"id": name, "group": name, "judgements": judgements, "cs_c": 0.0, "cs_r": 0.0}
        )
        for name in "ab"
    ]
    text = Page(rendered(single)).text
    assert "All 24 judgements carry the same label (supports)." in text
    assert "On average 3 % of the judge's probability fell on the labels." in text
    assert "the same for every response; lower is better" in text


def test_an_empty_run_has_a_page() -> None:
    assert "None: every response was scored" in rendered([])


def test_the_page_is_written_whole(tmp_path: Path) -> None:
    write(tmp_path / "new" / "report.html", "T", [], {})
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.html"]
    (tmp_path / "blocked").write_text("a file in the way")
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "blocked" / "report.html", "T", [], {})


def test_other_pipelines_contribute_sections_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "own.html.j2").write_text("<p>{{ text }}</p>")
    body = fragment(tmp_path, "own.html.j2", text="<b>&\x00")
    assert body == "<p>&lt;b&gt;&amp;␀</p>"
    own = Section("other", "Other", body, data=(("other-data", {"a": [1]}),), style="p { top: 0 }")
    parsed = Page(render("Two papers", [own], {}))
    assert parsed.data("other-data") == {"a": [1]}
    assert "p { top: 0 }" in parsed.style
    assert ("a", {"href": "#other"}) in parsed.elements


def test_plots_show_what_they_are_given() -> None:
    plot = str(dots([("<a>", Estimate(0.5, 0.25, 0.75, 9)), ("none", None)], "Title"))
    assert 'cx="50.00%"' in plot
    assert 'x1="25.00%" x2="75.00%"' in plot
    assert plot.count("<circle") == 1
    assert "&lt;a&gt;" in plot
    assert "–" in plot
    bars = str(shares([("v", {"S": 3, "C": 1})], {"S": "yes", "C": "no", "I": "other"}, "Title"))
    assert 'x="0.000%" y="2" width="75.000%"' in bars
    assert 'x="75.000%" y="2" width="25.000%"' in bars
    assert 'aria-label="yes 3, no 1"' in bars
    assert "nothing" in str(shares([("v", {})], {"S": "yes"}, "Title"))
