import gzip
import json
from pathlib import Path

import pytest

from nli.errors import TaggerError
from nli.labels import Label
from nli.pairs import LabelledPair, read_pairs, write_pairs

ROW = {"premise": "It rains.", "hypothesis": "It is dry.", "label": "contradiction", "source": "x"}


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.jsonl.gz"])
def test_what_is_written_is_read_and_its_bytes_are_always_the_same(
    tmp_path: Path, name: str
) -> None:
    pairs = [
        LabelledPair(premise="Höhe\u2028 3 m", hypothesis="a\nb", label=Label.SUPPORT, source="s"),
        LabelledPair(**(ROW | {"group": "g"})),
    ]
    first, second = tmp_path / name, tmp_path / "new" / f"other-{name}"
    write_pairs(first, pairs)
    write_pairs(second, pairs)
    assert read_pairs(first) == pairs
    assert first.read_bytes() == second.read_bytes()
    assert [file.name for file in second.parent.iterdir()] == [second.name]


def test_labels_of_other_data_sets_and_unknown_fields_are_read(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    rows = [
        ROW | {"label": name, "gold": "1"} for name in ("SUPPORTS", "refuted", "NOT ENOUGH INFO")
    ]
    file.write_text("\n\n".join(map(json.dumps, rows)))
    assert [pair.label for pair in read_pairs(file)] == list(Label)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "JSON"),
        ("[]", "dictionary|object"),
        (json.dumps({k: v for k, v in ROW.items() if k != "premise"}), "'premise' is missing"),
        (json.dumps(ROW | {"hypothesis": "  "}), "'hypothesis' is empty"),
        (json.dumps(ROW | {"label": "-"}), "label '-' is not known"),
        (json.dumps(ROW | {"label": 1}), "label 1 is not known"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(f"{json.dumps(ROW)}\n\n{line}\n")
    with pytest.raises(TaggerError, match=reason) as caught:
        read_pairs(file)
    assert str(caught.value).startswith(f"{file}:3: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "latin.jsonl").write_bytes(b"{}\n\xe9")
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b"{}" * 99)[:-9])
    for name, reason in (
        ("none.jsonl", "does not exist"),
        ("empty.jsonl", "holds no pairs"),
        ("latin.jsonl", r"latin\.jsonl:2: not UTF-8"),
        ("cut.jsonl.gz", "gzip"),
    ):
        with pytest.raises(TaggerError, match=reason):
            read_pairs(tmp_path / name)
