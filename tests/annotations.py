"""A run folder with a judge's labels of pairs, written without a judge."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipelines import papers
from pipelines.annotation.sample import Subject, chosen, subjects
from pipelines.conflictscore.detection.detect import DetectionResult
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Document
from pipelines.judge.examples import ContestedClaim
from pipelines.judge.judgement import RELATIONS, Judgement, Relation
from pipelines.runs.folder import RunFolder

S, C, I = RELATIONS  # noqa: E741
X = Relation.INVALID

ENTRY = "conflict-detection.tagger"


def write_run(
    labels: Sequence[Relation],
    *,
    sure: float | None = None,
    folder: Path = Path("out"),
    texts: Sequence[str] = (),
) -> Path:
    """A run with one claim and document per judge's label, alternating between two sources."""
    folder.mkdir(exist_ok=True)
    about = folder / "run.json"
    known: dict[str, Any] = json.loads(about.read_text()) if about.exists() else {"pipelines": {}}
    data = {"name": "bench.jsonl", "sha256": "0" * 64}
    model = {"name": "judge", "digest": "1" * 64, "engine": "scripted"}
    settings = Settings(judge="model").model_dump()
    known["pipelines"][ENTRY] = {"config": {"data": data, "model": model, "settings": settings}}
    about.write_text(json.dumps(known))
    lines = []
    for number, label in enumerate(labels):
        text = texts[number] if number < len(texts) else f"Text {number}."
        example = ContestedClaim(
            id=f"e{number}",
            source="ours" if number % 2 else "theirs",
            claim=f"Claim {number}.",
            documents=(Document(id=f"secret-{label.lower()}", text=text),),
            conflict=False,
        )
        shares = None
        if sure is not None and label is not X:
            shares = {each: sure if each is label else (1 - sure) / 2 for each in RELATIONS}
        judgement = Judgement(
            claim=example.claim,
            document=example.documents[0].id,
            relation=label,
            probabilities=shares,
            source="judge",
            snippet="a telling snippet",
        )
        result = DetectionResult(
            id=example.id, example=example, status="labelled", judgements=(judgement,)
        )
        lines.append(result.model_dump_json() + "\n")
    (folder / f"{ENTRY}.jsonl").write_text("".join(lines))
    return folder


def subject(folder: Path) -> Subject:
    """The items to label in a folder with one run."""
    run = RunFolder(folder)
    return chosen(subjects(run, papers.runs_in(run)), None, None)
