"""The three relations, and the many names that data sets and models give them."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from nli.errors import TaggerError


class Label(StrEnum):
    """How a premise relates to a hypothesis."""

    SUPPORT = "support"
    REFUTE = "refute"
    IRRELEVANT = "irrelevant"


LABELS: tuple[Label, Label, Label] = (Label.SUPPORT, Label.REFUTE, Label.IRRELEVANT)
"""The order of every probability and logit that this package returns."""

_SPELLINGS = {
    Label.SUPPORT: (
        *("support", "supports", "supported", "supporting"),
        *("entailment", "entail", "entails", "entailed", "entailing"),
    ),
    Label.REFUTE: (
        *("refute", "refutes", "refuted", "refuting"),
        *("contradiction", "contradict", "contradicts", "contradicted", "contradictory"),
        "contradicting",
    ),
    Label.IRRELEVANT: (
        *("neutral", "irrelevant", "unrelated", "unknown", "undetermined"),
        *("notenoughinfo", "notenoughinformation", "notenoughevidence", "nei", "noinfo"),
    ),
}
_LABEL_OF = {spelling: label for label, all_ in _SPELLINGS.items() for spelling in all_}
_NAMELESS = re.compile(r"label_?\d+", re.IGNORECASE)


def label_of(name: str) -> Label | None:
    """The label that a name stands for, if any; case, spaces and punctuation are ignored.

    Known names are those of SNLI and MultiNLI (entailment, contradiction, neutral), of FEVER
    (SUPPORTS, REFUTES, NOT ENOUGH INFO), of SciFact (SUPPORT, CONTRADICT) and their inflections.
    """
    return _LABEL_OF.get(re.sub(r"[^a-z]", "", name.casefold()))


def label_order(config: Mapping[str, Any]) -> tuple[Label, Label, Label]:
    """The label of logit 0, 1 and 2 of a model.

    Models differ in the order, so it is taken from the model's own `config.json` (`id2label`, or
    `label2id` where that is missing) and never assumed.

    Raises:
        TaggerError: The names are missing, not three, placeholders (`LABEL_0`) or unknown, or two
            mean the same label.
    """
    names = _names(config)
    if any(_NAMELESS.fullmatch(name) for name in names):
        raise TaggerError(
            f"the labels have no names ({', '.join(names)}), so what a logit means is not known;"
            " write the names into id2label, as the model's authors give them"
        )
    if len(names) != 3:
        raise TaggerError(
            f"the model has {len(names)} label{'s' if len(names) != 1 else ''}"
            f" ({', '.join(names)}) where entailment, contradiction and neutral are needed;"
            " use a model with these three"
        )
    labels: list[Label] = []
    for name in names:
        label = label_of(name)
        if label is None:
            raise TaggerError(
                f"the label '{name}' is not known; name the labels entailment, contradiction and"
                " neutral in id2label, if that is what they mean"
            )
        if label in labels:
            raise TaggerError(
                f"the labels '{names[labels.index(label)]}' and '{name}' both mean {label};"
                " entailment, contradiction and neutral are needed, one each"
            )
        labels.append(label)
    first, second, third = labels
    return first, second, third


def _names(config: Mapping[str, Any]) -> list[str]:
    """The names of the labels in the order of the logits."""
    given = config.get("id2label")
    backward = config.get("label2id")
    if given is None and isinstance(backward, Mapping):
        given = {number: name for name, number in backward.items()}
    if not isinstance(given, Mapping) or not given:
        raise TaggerError(
            "no id2label, so what a logit means is not known; write the labels' names into it, as"
            " the model's authors give them"
        )
    try:
        by_number = {int(number): str(name) for number, name in given.items()}
    except (TypeError, ValueError):
        by_number = {}
    if sorted(by_number) != list(range(len(given))):
        raise TaggerError("id2label does not number the labels 0, 1, 2; fix it")
    return [by_number[number] for number in range(len(by_number))]
