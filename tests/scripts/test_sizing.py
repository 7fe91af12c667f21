"""The table of docs/sizing.md is made from dry runs."""

from pathlib import Path

import sizing


def test_a_row_is_calls_and_tokens_by_example(tmp_path: Path) -> None:
    shared = {"out": None, "profile": "cpu-small"}
    made = sizing.row("Detection", {"experiment": "conflict-detection"}, shared, tmp_path)
    title, examples, calls, read, written, *measured = [
        cell.strip() for cell in made.strip("|").split("|")
    ]
    # 102 pairs, a label each, over 28 examples.
    assert (title, examples, calls, written) == ("Detection", "28 examples", "4", "4")
    assert 1000 < int(read.replace(",", "")) < 4000
    assert measured == ["", "", ""]
