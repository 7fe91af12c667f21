"""`contested lab ramdocs`, as a person meets it: the file, what is said of it, and refusals."""

from pathlib import Path

import pytest
from ambiguous import ambigdocs_text
from commands import Contested

from pipelines.data.ramdocs import read

BUILD = ["lab", "ramdocs", "--ambigdocs", "ambigdocs.json"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Path:
    Path("ambigdocs.json").write_text(ambigdocs_text(), "utf-8")
    return tmp_path


def test_what_is_built_is_read_by_the_experiment(contested: Contested) -> None:
    told = contested.done(*BUILD)
    questions = read(Path("ramdocs.jsonl"))
    assert len(questions) == 9
    documents = sum(len(each.documents) for each in questions)
    planned = contested.done("run", "madam-rag", "--data", "ramdocs.jsonl", "--dry-run")
    assert f"9 questions from ramdocs.jsonl, {documents} documents" in planned.out

    # Nine are fewer than 500. No passage beyond AmbigDocs' own tells more of an entity.
    assert "only 9 of 500 questions could be built" in told.err
    assert "5.53" in told.out, "the paper's averages stand beside the build's"
