"""Replies of a scripted endpoint to any prompt: valid for its schema, from the prompt alone."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from scripted import fenced_text, prompt_of


def reply(request: dict[str, Any]) -> str:
    """A deterministic reply to the prompt: JSON for its schema, or a cited line of its text."""
    text = prompt_of(request)
    if "response_format" not in request:
        fences = re.findall(r"<<([A-Z]+(?: \d+)?) \w+\n", text)
        said = fenced_text(request, fences[0]).partition("\n")[0] if fences else text[:80]
        # The number makes answers differ: later requests about equal answers would be sent only
        # once.
        return f"{said} {next(_numbers(text))} [1] It is disputed. [2]"
    schema = request["response_format"]["json_schema"]["schema"]
    numbers = _numbers(text)
    # Claims use words of their text; other claims would be dropped as unrelated.
    source = fenced_text(request, "TEXT") if re.search(r"<<TEXT \w+\n", text) else text
    words = re.findall(r"\b[A-Z]?[a-z]{3,}\b|\b\d{4}\b", source) or ["word"]
    return json.dumps(_filled(schema, schema, numbers, words))


def _numbers(text: str) -> Iterator[int]:
    state = hashlib.sha256(text.encode()).digest()
    while True:
        yield from state
        state = hashlib.sha256(state).digest()


def _filled(  # noqa: PLR0911  (a schema is one of many things)
    part: Any, whole: Any, numbers: Iterator[int], words: list[str]
) -> Any:
    if "$ref" in part:
        return _filled(whole["$defs"][part["$ref"].split("/")[-1]], whole, numbers, words)
    if "anyOf" in part:
        return _filled(part["anyOf"][next(numbers) % len(part["anyOf"])], whole, numbers, words)
    if "enum" in part:
        return part["enum"][next(numbers) % len(part["enum"])]
    if "const" in part:
        return part["const"]
    match part.get("type"):
        case "object":
            return {
                name: _filled(each, whole, numbers, words)
                for name, each in part.get("properties", {}).items()
            }
        case "array":
            least, most = part.get("minItems", 0), min(part.get("maxItems", 3), 3)
            count = least + next(numbers) % (max(most, least) - least + 1)
            return [_filled(part["items"], whole, numbers, words) for _ in range(count)]
        case "integer":
            least = part.get("minimum", 1)
            return least + next(numbers) % (min(part.get("maximum", 3), least + 4) - least + 1)
        case "number":
            return next(numbers) / 255
        case "boolean":
            return next(numbers) % 2 == 0
        case "null":
            return None
    # About one reply in thirty is too long for its field, and so unreadable.
    if next(numbers) < 8 and "maxLength" in part:
        return "x" * (part["maxLength"] + 1)
    chosen = [words[(next(numbers) * 7 + place) % len(words)] for place in range(3)]
    return " ".join(chosen)[: part.get("maxLength", 80)]


def weigh(request: dict[str, Any]) -> list[float]:
    """Probabilities of the requested labels, derived from the prompt; they sum to half."""
    numbers = _numbers(prompt_of(request))
    weights = [1 + next(numbers) for _ in request["logprob_token_ids"]]
    return [0.5 * weight / sum(weights) for weight in weights]
