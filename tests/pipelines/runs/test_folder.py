"""Run folders: resumed only with equal settings, written by one process, repaired after a kill."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel

from pipelines.errors import InputError
from pipelines.runs.folder import ResultLog, RunFolder


class Outcome(BaseModel):
    id: str
    value: int


@dataclass(frozen=True)
class Average:
    name: str
    value: float | None
    by_number: dict[int, float | None]


def test_a_folder_goes_on_with_equal_settings_only(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.begin("p", {"data": "a", "k": 3, "tuple": (1, 2)}, {"started": "then"})
    folder.begin("p", {"data": "a", "k": 3, "tuple": (1, 2)}, {"started": "now"})
    assert folder.about()["pipelines"]["p"]["started"] == "then"
    with pytest.raises(InputError, match=r"k \(3 there, 4 now\); name"):
        folder.begin("p", {"data": "a", "k": 4, "tuple": (1, 2)}, {})
    folder.begin("q", {"data": "b"}, {"started": "now"})
    assert set(folder.about()["pipelines"]) == {"p", "q"}


def test_what_differs_is_named_as_far_as_it_says_something(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    begun = {"data": {"name": "a", "sha256": "0" * 64}, "settings": {"k": 1, "half": None}, "l": 1}
    folder.begin("p", begun, {})
    other = {"data": {"name": "a", "sha256": "1" * 64}, "settings": {"k": 1, "half": "dev"}}
    with pytest.raises(InputError) as refused:
        folder.begin("p", other, {})
    assert str(refused.value).startswith(
        f"{tmp_path} holds a run that differs in data.sha256, l (1 there, none now), "
        'settings.half (none there, "dev" now); name another --out'
    )
    with pytest.raises(InputError, match="and 2 more; name another --out"):
        folder.begin("p", dict.fromkeys("abcde", 1) | begun, {})


def test_what_was_noted_comes_back_as_what_it_was(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.begin("p", {}, {})
    assert folder.noted("p", "averages", tuple[Average, ...]) is None
    averages = (Average("answers", 2.2, {1: None}), Average("documents", None, {}))
    folder.note("p", {"averages": averages, "ended": "now"})
    assert folder.noted("p", "averages", tuple[Average, ...]) == averages
    assert folder.noted("p", "ended", str) == "now"
    folder.note("p", {"averages": [{"name": 3}]})
    with pytest.raises(InputError, match=r"averages of p in .*run.json are damaged \(3 problems\)"):
        folder.noted("p", "averages", tuple[Average, ...])


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path).locked(),
        pytest.raises(InputError, match="another run is writing"),
        RunFolder(tmp_path).locked(),
    ):
        pass
    with RunFolder(tmp_path).locked():
        pass


def test_a_folder_made_for_nothing_is_removed(tmp_path: Path) -> None:
    for name, written in (("refused", ()), ("begun", ("run.json",)), ("mine", ())):
        path = tmp_path / name
        if name == "mine":
            path.mkdir()
        with RunFolder(path).locked():
            for file in written:
                (path / file).touch()
    assert {path.name for path in tmp_path.iterdir()} == {"begun", "mine"}


def test_results_are_read_back_settled_and_mended(tmp_path: Path) -> None:
    log = ResultLog(tmp_path / "p.jsonl", Outcome)
    assert log.read() == {}
    for name, value in (("b", 1), ("a", 2), ("b", 3)):
        log.append(Outcome(id=name, value=value))
    with log.path.open("ab") as file:
        file.write(b'{"id": "c", "val')
    assert {name: outcome.value for name, outcome in log.read().items()} == {"b": 3, "a": 2}
    log.mend()
    log.append(Outcome(id="d", value=4))
    assert [outcome.id for outcome in log.settle(["a", "b", "c", "d"])] == ["a", "b", "d"]
    lines = log.path.read_text().splitlines()
    assert lines == ['{"id":"a","value":2}', '{"id":"b","value":3}', '{"id":"d","value":4}']
