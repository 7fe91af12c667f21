"""Replies that no model gave, to follow a pipeline without asking one."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

CHARACTERS_PER_TOKEN = 4
"""What English has on average."""

SENTENCE = 100
"""Characters of an item of a list; so long is an English sentence or claim."""

WRONG_NUMBER = 99


class MadeUp:
    """Makes replies: the shortest that a pipeline can read, or (`full`) the longest there may be.

    Free text has all the forms that prompts ask for: a letter, answers, an explanation, a citation.

    Brief replies are all alike: they name the first label, hold one item per list and agree with
    one another. Full replies fill `max_tokens`, differ from each other, and name one label after
    the other, so that debates go on and documents are at odds.
    """

    def __init__(self, *, full: bool) -> None:
        self._full = full
        self._made = 0

    def text(self, request: Mapping[str, Any]) -> str:
        """A reply to a chat request: JSON by its schema if it has one, else sentences."""
        self._made += 1
        room = request["max_tokens"] * CHARACTERS_PER_TOKEN
        if "response_format" in request:
            schema = request["response_format"]["json_schema"]["schema"]
            return json.dumps(self._filled(schema, schema, room))
        said = f"reply {self._made}" if self._full else "yes"
        letter = "AB"[self._made % 2] if self._full else "A"
        answers = f'({letter}) Answer: {said}.\nAll correct answers: ["{said}"].'
        more = room // SENTENCE - 1 if self._full else 0
        sentences = (f"{self._sentence(number, SENTENCE - 5)} [1]." for number in range(more))
        return " ".join((f"{answers}\nExplanation: {said} [1].", *sentences))

    def logprobs(self, tokens: Sequence[int]) -> dict[str, float]:
        """Log-probabilities of some tokens as the next one."""
        self._made += 1
        liked = self._made % len(tokens) if self._full else 0
        rest = math.log(0.1 / max(1, len(tokens) - 1))
        return {
            str(token): math.log(0.9) if place == liked else rest
            for place, token in enumerate(tokens)
        }

    def _filled(self, part: Any, whole: Any, room: int, place: int = 0) -> Any:  # noqa: PLR0911  (a schema is one of many things)
        """A value of a part of a schema, in about so many characters; `place` is that in a list."""
        if "$ref" in part:
            return self._filled(whole["$defs"][part["$ref"].split("/")[-1]], whole, room, place)
        if "anyOf" in part:
            return self._filled(part["anyOf"][0], whole, room, place)
        if "const" in part:
            return part["const"]
        if "enum" in part:
            choices = part["enum"]
            return choices[(self._made + place) % len(choices)] if self._full else choices[0]
        match part.get("type"):
            case "object":
                fields = part.get("properties", {})
                each = room // max(1, len(fields))
                return {name: self._filled(one, whole, each, place) for name, one in fields.items()}
            case "array":
                least = max(1, part.get("minItems", 0))
                fitting = min(part.get("maxItems", room), room // SENTENCE)
                count = max(least, fitting) if self._full else least
                return [
                    self._filled(part["items"], whole, room // count, number)
                    for number in range(count)
                ]
            case "integer":
                least = part.get("minimum", 1)
                return part.get("maximum", WRONG_NUMBER) if self._full else least
            case "number":
                return part.get("minimum", 1)
            case "boolean":
                return not self._full or self._made % 2 == 0
            case "null":
                return None
        length = max(min(part.get("maxLength", room), room), part.get("minLength", 1), 1)
        return self._sentence(place, length) if self._full else "yes"[:length]

    def _sentence(self, number: int, length: int) -> str:
        """Words of so many characters that no other place has."""
        begun = f"Reply {self._made} says {number}"
        return (begun + " and more" * (length // 9))[:length].strip()
