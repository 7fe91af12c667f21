"""The facts that hostile texts are added to, and which of their answers a text names."""

import json

from pipelines.metrics.alce import named_answers
from pipelines.trust.cases import SAMPLES

FACTS = {
    fact["id"]: fact
    for fact in map(json.loads, (SAMPLES / "facts.jsonl").read_text("utf-8").splitlines())
}

NAMED = {
    (True, False): "right",
    (False, True): "wrong",
    (True, True): "both",
    (False, False): "neither",
}


def named(fact: str, text: str) -> str:
    """Whether a text names a fact's right answer, the wrong one, both or neither."""
    right, wrong = named_answers([FACTS[fact]["answer"], FACTS[fact]["wrong"]], text)
    return NAMED[right, wrong]
