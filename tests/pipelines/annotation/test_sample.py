"""Which items people label: drawn by strata, the same again for equal seeds, and kept."""

from collections import Counter
from pathlib import Path

import pytest
from annotations import C, I, S, X, subject, write_run
from hypothesis import given
from hypothesis import strategies as st

from pipelines.annotation.sample import draw, evenly, opened
from pipelines.errors import InputError

LABELS = [S] * 20 + [C] * 5 + [I] * 30 + [X]


def test_each_stratum_has_as_many_as_can_be(tmp_path: Path) -> None:
    own = subject(write_run(LABELS, folder=tmp_path / "out"))
    made = draw(own, 30, "label", 0)
    assert {name: (each.drawn, each.items) for name, each in made.strata.items()} == {
        "CONTRADICTS": (5, 5),
        "IRRELEVANT": (12, 30),
        "SUPPORTS": (12, 20),
        "unreadable": (1, 1),
    }
    assert Counter(own.items[item].label for item in made.items) == {
        "CONTRADICTS": 5, "IRRELEVANT": 12, "SUPPORTS": 12, None: 1,
    }  # fmt: skip
    assert len(set(made.items)) == 30
    # Equal seeds draw equal samples, in an order that tells nothing.
    assert made == draw(own, 30, "label", 0)
    assert made.items != draw(own, 30, "label", 1).items
    labels = [own.items[item].label or "" for item in made.items]
    assert labels != sorted(labels)


@given(st.dictionaries(st.text(max_size=2), st.integers(1, 20), min_size=1), st.integers(0, 99))
def test_numbers_are_as_even_as_can_be(sizes: dict[str, int], total: int) -> None:
    found = evenly(sizes, total)
    assert sum(found.values()) == min(total, sum(sizes.values()))
    most = max(found.values())
    assert all(own <= sizes[name] for name, own in found.items())
    assert all(own >= most - 1 or own == sizes[name] for name, own in found.items())


def test_it_is_drawn_by_what_the_data_know(tmp_path: Path) -> None:
    own = subject(write_run([S] * 10, sure=0.6, folder=tmp_path / "out"))
    assert {*draw(own, 4, "source", 0).strata} == {"ours", "theirs"}
    assert {*draw(own, 4, "none", 0).strata} == {"all"}
    with pytest.raises(InputError, match="it can be label, group, source, none"):
        draw(own, 4, "colour", 0)
    with pytest.raises(InputError, match="makes 10 strata, more than --sample 4"):
        draw(own, 4, "group", 0)


def test_it_is_kept_and_refused_once_it_no_longer_holds(tmp_path: Path) -> None:
    own = subject(write_run(LABELS, folder=tmp_path / "out"))
    made = opened(own, 30, None, None)
    assert opened(own, None, None, None) == opened(own, 30, "label", 0) == made
    for other in ((31, None, None), (None, "none", None), (None, None, 1)):
        with pytest.raises(InputError, match="has another sample \\(--sample 30 --by label"):
            opened(own, *other)
    grown = subject(write_run([*LABELS, S], folder=tmp_path / "out"))
    with pytest.raises(InputError, match="drawn from other results"):
        opened(grown, None, None, None)
    (own.path / "sample.json").write_text("{")
    with pytest.raises(InputError, match=r"sample\.json is damaged"):
        opened(own, None, None, None)
