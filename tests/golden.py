"""What every experiment leaves, written to a folder to be compared with what another commit leaves.

    PYTHONPATH=. python tests/golden.py OUT [NAME]   # at both commits, all or what begins with NAME
    diff -r BEFORE AFTER

Bundled samples, a scripted endpoint whose replies follow from the prompt and its schema alone, the
shipped tagger in fp32, and a tiny decoder. Kept are results, tables, and the names in `run.json`;
not the page. Digests of data and prompts are kept as they are, times, packages and usage are not.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from by_schema import reply, weigh
from scripted import KEY, Scripted
from tiny_loaded import saved

from pipelines.cli.app import main

TOPIC = {
    "topic": "dams",
    "question": "Should it stay?",
    "pro": ["It holds drinking water.", "The dam is there."],
    "con": ["Salmon cannot pass.", "Others say that."],
}
ORGANIC = {
    "id": "o1",
    "question": TOPIC["question"],
    "pro": TOPIC["pro"][:1],
    "con": TOPIC["con"][:1],
    "response": "Supporters say that it holds drinking water; people see this.",
    "coverage": "full",
    "uncovered": [TOPIC["con"][0]],
}
ALCE = [
    {
        "sample_id": f"s{number}",
        "question": "When did the tower open?",
        "qa_pairs": [
            {"question": "When?", "short_answers": ["1889"], "context": "", "wikipage": None}
        ],
        "answer": "It opened in 1889.",
        "docs": [
            {"id": f"{n}", "title": "Tower", "text": text, "score": 1.0}
            for n, text in enumerate(
                ("The tower opened in 1889.", "The tower opened in 1902.", "It is tall."), 1
            )
        ],
    }
    for number in range(2)
]

RUNS = {
    "scores": "conflictscore {llm}",
    "scores-repeated": "conflictscore --repeat 2 --limit 4 {llm}",
    "scores-explained": "conflictscore --evidence json --claims salient {llm}",
    "scores-together": "conflictscore --evidence together --claims sentences {llm}",
    "scores-tagged": "conflictscore --labeller nli --claims sentences",
    "scores-cascade": "conflictscore --labeller cascade --limit 8 {llm}",
    "detection": "conflict-detection --labeller nli",
    "detection+": "conflict-detection {llm} --limit 20",
    "detection++": "conflict-detection --labeller cascade --risk 0.1 {llm}",
    "detection+++": "conflict-detection --evidence json --name reasons {llm}",
    "detection++++": "conflict-detection --labeller combined {llm}",
    "conrag": "conrag --method bm25",
    "conrag+": "conrag --dataset alce --data {alce} --labeller nli {llm}",
    "conrag-written": "conrag --method bm25 --generator llm --among all {llm}",
    "conrag-judged": "conrag --method bm25 --labeller llm --evidence choice --limit 6 {llm}",
    "debates": "madam-rag {llm}",
    "debates+": "madam-rag --experiment rounds {llm}",
    "debates++": "madam-rag --experiment support {llm}",
    "debates+++": "madam-rag --experiment misinformation --limit 3 {llm}",
    "debates-released": "madam-rag --as-released --reliability --sample 4 --seed 3 {llm}",
    "conflicts": "conflicts {llm}",
    "conflicts+": "conflicts --judge nli --name second --dates --behaviour choice --against all "
    "{llm}",
    "conflicts-types": "conflicts --strategy none --classifier yes-no",
    "conflicts-told": "conflicts --types choice --threshold 0.4 --strategy pipeline --classifier "
    "choice {llm}",
    "reports": "report-writing {llm} --limit 4",
    "truth": "truthfulqa {llm} --limit 4",
    "truth+": "truthfulqa --name tagger --labeller nli --claims sentences --truth nli {llm}",
    "npov": "npov --data {topics} --organic {organic} --set unparaphrased --model {tiny} "
    "--precision fp32 --detector salience",
    "npov+": "npov --data {topics} --organic {organic} --set unparaphrased --model {tiny} "
    "--precision fp32 --detector classifier",
}
"""Folder -> command; those whose names differ in "+" alone share a folder, in this order."""

DROPPED = {
    *("started", "finished", "usage", "usage_of_judge"),
    *("packages", "hardware", "python", "store"),
}


ADDRESS = r"127.0.0.1:\d+|(?<=llm-choice )\w+|(?<=llm-json )\w+|(?<=cascade )\w+|(?<=combined )\w+"
"""Port of the endpoint, and the judges' identities, which cover it."""


def plain(about: dict[str, Any]) -> dict[str, Any]:
    """`run.json` without what differs from run to run."""
    return {
        "pipelines": {
            name: {key: value for key, value in entry.items() if key not in DROPPED}
            for name, entry in about["pipelines"].items()
        }
    }


def write(out: Path, beginning: str = "") -> None:
    """Run what begins so in a home of its own, and keep what it left below `out`."""
    out.mkdir(parents=True)
    with (
        tempfile.TemporaryDirectory() as home,
        Scripted(reply=reply, weigh=weigh) as endpoint,
        patch("pipelines.precision.native_format", return_value="fp32"),
    ):
        os.environ |= {"CONTESTED_HOME": home, "CONTESTED_API_KEY": KEY}
        made = Path(home) / "made"
        made.mkdir()
        for name, value in (("topics", TOPIC), ("organic", ORGANIC)):
            (made / f"{name}.jsonl").write_text(json.dumps(value) + "\n")
        (made / "asqa_eval.json").write_text(json.dumps(ALCE))
        given = {
            "{alce}": [str(made / "asqa_eval.json")],
            "{topics}": [str(made / "topics.jsonl")],
            "{organic}": [str(made / "organic.jsonl")],
            "{tiny}": [str(saved(made / "tiny"))],
            "{llm}": ["--endpoint", endpoint.url],
        }
        for name, command in RUNS.items():
            if not name.startswith(beginning):
                continue
            folder = Path(home) / "out" / name.rstrip("+")
            words: list[str] = []
            for word in ("run", *command.split()):
                words += given.get(word, [word])
            code = main([*words, "--on-error", "skip", "--out", str(folder)])
            if code:
                sys.exit(f"{name}: code {code}")
        for folder in sorted((Path(home) / "out").iterdir()):
            kept = out / folder.name
            kept.mkdir()
            for path in (*sorted(folder.glob("*.jsonl")), *sorted(folder.glob("tables/*.csv"))):
                # The last digits of the tagger's probabilities depend on what it was batched with.
                rounded = re.sub(r"(\d\.\d{5})\d+", r"\1", path.read_text("utf-8"))
                (kept / path.name).write_text(rounded, "utf-8")
            about = json.loads((folder / "run.json").read_text())
            told = json.dumps(plain(about), indent=1, sort_keys=True)
            told = re.sub(ADDRESS, "", told)
            (kept / "run.json").write_text(told)


if __name__ == "__main__":
    write(Path(sys.argv[1]), *sys.argv[2:])
