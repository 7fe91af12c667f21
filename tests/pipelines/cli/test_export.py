"""`contested export`, as a person meets it."""

import json
from pathlib import Path

import pyarrow.parquet as pq
from commands import Contested, contents, records, write
from scripted import Scripted

RUN = ["run", "conflict-detection", "--limit", "4"]


def test_a_run_becomes_a_dataset_that_others_open(contested: Contested, endpoint: Scripted) -> None:
    """The tagger's run and a model's in one folder; one example of the model's failed."""
    contested.done(*RUN, "--judge", "tagger", "--out", "out")
    contested.done(*RUN, "--endpoint", endpoint.url, "--out", "out")
    done = contested.done("export", "out", "--out", "shared/dataset")
    told = done.out.splitlines()
    assert len(told) == 2
    assert all(line.startswith("4 rows of conflict-detection.") for line in told)

    from datasets import load_dataset

    for line in told:
        name = line.split()[-1]
        rows = load_dataset(
            "shared/dataset", name, split="results", cache_dir="cache", token=False
        ).to_list()
        kept = records(f"out/{name}.jsonl")
        assert [row["id"] for row in rows] == [each["id"] for each in kept]
        first, own = rows[0], kept[0]
        assert json.loads(first["example"]).items() >= own["example"].items()
        assert [each["relation"] for each in json.loads(first["judgements"])] == [
            each["relation"] for each in own["judgements"]
        ]
        assert {row["score.right"] for row in rows} <= {0.0, 1.0}
        assert {row["verdict"] for row in rows} <= {"conflict", "no conflict"}
    card = Path("shared/dataset/README.md").read_text()
    for said in ("4 rows (4 labelled)", "`contested-nli`", "`scripted`", "`settings.judge`"):
        assert said in card
    assert Path("shared/dataset/tables/conflict_detection.md").exists()
    assert Path("shared/dataset/run.json").read_bytes() == Path("out/run.json").read_bytes()
    left = contents(Path("shared"))
    line = contested.refused("export", "out", "--out", "shared/dataset")
    assert "already exists; name a new folder" in line
    assert contents(Path("shared")) == left


def test_texts_of_data_stay_texts(contested: Contested, endpoint: Scripted) -> None:
    """What is in a card from the data cannot end a table or a header of it."""
    name = "bad|name` --- [x](y).jsonl"
    record = {
        "id": "x",
        "question": "Is it?",
        "response": "It is.",
        "documents": [{"id": "d", "text": "It is, they say.\u2028---\n|"}],
    }
    write(name, record)
    run = ["run", "conflictscore", "--data", name, "--claims", "whole", "--judge", "tagger"]
    contested.done(*run, "--out", "out")
    contested.done("export", "out", "--out", "dataset")
    assert "data `bad\\|name' --- [x](y).jsonl`" in Path("dataset/README.md").read_text()
    (file,) = Path("dataset/data").iterdir()
    (row,) = pq.read_table(file).to_pylist()
    (document,) = json.loads(str(row["documents"]))
    assert document["text"] == record["documents"][0]["text"]  # type: ignore[index]
