"""Results and tables of every experiment are those that are frozen in tests/golden/."""

from collections.abc import Iterator

import pytest
from golden import KEPT, RUNS, Golden, differences, golden, read

from pipelines import papers


@pytest.fixture(scope="module")
def runs() -> Iterator[Golden]:
    with golden() as made:
        yield made


@pytest.mark.parametrize("name", RUNS)
def test_results_and_tables_are_the_frozen_ones(name: str, runs: Golden) -> None:
    changed = list(differences(read(name), runs.run(name)))
    assert not changed, "\n".join(changed[:20])


def test_every_experiment_is_frozen() -> None:
    frozen = {command.split()[0] for commands in RUNS.values() for command in commands}
    assert frozen <= {*papers.EXPERIMENTS}
    assert {path.name for path in KEPT.iterdir()} == {*RUNS}


def test_a_figure_that_moves_is_seen() -> None:
    kept = {"rows": [{"f1": 0.75, "text": "0.75 [0.60, 0.90]"}]}
    assert not [*differences(kept, {"rows": [{"f1": 0.7501, "text": "0.75 [0.61, 0.90]"}]})]
    moved = {"rows": [{"f1": 0.78, "text": "0.78 [0.60, 0.90]"}, {}], "more": 1}
    places = [line.split(":")[0] for line in differences(kept, moved)]
    assert places == [".more", ".rows", ".rows[0].f1", ".rows[0].text"]
    assert [*differences("0.75 [0.60, 0.90]", "0.75 [0.63, 0.90]")]
