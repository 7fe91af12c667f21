"""Text of others on a terminal: neither markup nor control characters."""

import io
import json

from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from pipelines.report.terminal import plain, plain_json
from pipelines.report.texts import visible

SIGNS = "[]/\\a=#@ \x1b\x9b\x7f\u202e\U000e0041"


def printed(markup: str) -> str:
    console = Console(emoji=False, file=io.StringIO(), record=True, width=10_000)
    console.print(markup, soft_wrap=True)
    return console.export_text()


@given(st.text(SIGNS, max_size=12))
@example("a\\\\\\")
def test_a_text_ends_no_tag_and_begins_none(text: str) -> None:
    shown = printed(f"[bold]{plain(text)}[/bold]|")
    assert shown.endswith("|\n")
    assert "bold" not in shown
    assert shown.count("[") == text.count("[")
    assert visible(shown) == shown


@given(st.text() | st.text(SIGNS))
def test_json_is_the_same_and_has_nothing_that_a_terminal_obeys(text: str) -> None:
    given = json.dumps({"text": text}, ensure_ascii=False, indent=2)
    shown = plain_json(given)
    assert json.loads(shown) == json.loads(given)
    assert visible(shown) == shown
