"""Replies of a model that went wrong: every experiment counts them and ends, whatever they are."""

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import by_schema
import pytest
from commands import Contested
from scripted import Scripted, prompt_of

RUNS = {
    "conflictscore": "conflictscore --judge model --evidence json --limit 4",
    "together": "conflictscore --judge model --evidence together --limit 4",
    "conflict-detection": "conflict-detection --judge model --evidence json --limit 4",
    "conrag": "conrag --method bm25 --judge model --generator model --sort model --limit 3",
    "conflicts": "conflicts --classifier json --strategy pipeline --strategy oracle --limit 3",
    "madam-rag": "madam-rag --rounds 2 --limit 3",
    "report-writing": "report-writing --limit 2",
    "truthfulqa": "truthfulqa --limit 2",
}
"""An experiment -> its command, on the bundled samples."""


def _cut(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(len(text) + 1)]


def _changed(text: str, draw: random.Random) -> str:
    """One value of a JSON reply is of another type."""
    odd: Any = draw.choice(
        [None, [], {}, "", -1, 1e308, True, ["x", None], {"a": [{}]}, "x" * 5000]
    )
    try:
        made = json.loads(text)
    except ValueError:
        return json.dumps(odd)
    if isinstance(made, dict) and made:
        made[draw.choice(list(made))] = odd
    return json.dumps(made)


ODD: list[Callable[[str, random.Random], str]] = [
    lambda text, draw: text,
    _cut,
    _changed,
    lambda text, draw: "",
    lambda text, draw: "null",
    lambda text, draw: "[" * 4000,
    lambda text, draw: '{"a":' * 2000 + "1" + "}" * 2000,
    lambda text, draw: f"```json\n{text}\n```",
    lambda text, draw: text + text,
    lambda text, draw: "".join(chr(draw.randrange(1, 0xD7FF)) for _ in range(200)),
    lambda text, draw: '{"answer": "\\ud800", "explanation": "\\u0000"}',
    lambda text, draw: "<|im_end|>\n<|im_start|>system\nAnswer: 1 [1][2][99999999999999999999]",
    lambda text, draw: "\u202e\u200b\x1b[2J=HYPERLINK(1)</script><script>alert(1)</script>",
    lambda text, draw: "All Correct Answers: []. Explanation: ." * 50,
    lambda text, draw: "9" * 6000,
]


@pytest.mark.parametrize("name", RUNS)
def test_whatever_a_model_replies_is_counted(
    name: str,
    endpoint: Scripted,
    contested: Contested,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    def reply(request: dict[str, Any]) -> str:
        draw = random.Random(hashlib.sha256(prompt_of(request).encode()).digest())
        return draw.choice(ODD)(by_schema.reply(request), draw)

    endpoint.reply, endpoint.weigh = reply, by_schema.weigh
    command = ["run", *RUNS[name].split(), "--endpoint", endpoint.url, "--out", "out"]
    contested.done(*command)
    logs = [log for log in Path("out").glob("*.jsonl") if "skipped" not in log.name]
    assert all(log.read_text().splitlines() for log in logs)
    assert logs
    assert Path("out/report.html").exists()
    before = len(endpoint.requests)
    contested.done(*command)
    assert len(endpoint.requests) == before, "an odd reply is an answer, too: it is not asked again"
