"""Claims that report several views, and claims and documents that deny.

A response that acknowledges a conflict reports what several documents say, and each of them backs
only its part. By ConflictScore (section 3; Table 7), a document that supports any part of a hedged
or multi-part claim SUPPORTS it, one that supports none and denies one CONTRADICTS it, and any other
is IRRELEVANT. Labelled pairs have few claims of this kind; here they are made of several statements
about one premise, whose labels are known.

The forms, and the statements of `topics` and `events`, are in views.json.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from nli.labels import Label
from nli.pairs import LabelledPair
from pipelines.text.substitution import falsified

KINDS = {
    (Label.SUPPORT, Label.REFUTE): 8,
    (Label.SUPPORT, Label.IRRELEVANT): 2,
    (Label.REFUTE, Label.REFUTE): 10,
    (Label.REFUTE, Label.IRRELEVANT): 3,
    (Label.IRRELEVANT, Label.IRRELEVANT): 2,
}
"""Labels of two views -> how often claims of such views are made relative to others."""

COPIES = 3
"""Most copies of a statement with a part exchanged."""

PART = 4
"""Most words in which two statements of one point differ."""

SHORTENED, RANGES, REJECTED, THIRD = 0.4, 0.15, 0.15, 0.12
"""Shares of claims that say only once what two views share, of those with a range for two numbers,
of claims that reject a view, and of those with a third view."""

LONGEST = 240
"""Most characters of a statement: a claim of several views is still a sentence or two."""

AROUND = 0.5
"""Share of statements of `topics` and `events` whose document also has another one."""

NAMED = 0.6
"""Share of these statements whose subject has a name."""

_INNER = re.compile(
    r"(?:The|A|An|It|There|This|That|These|Those|He|She|They|We|His|Her|Their|Its|In|On|At|By|Of|"
    r"For|From|Some|Many|Most|Several|All|No|One|Two|Three|People|Someone|During|After|Before|"
    r"Since|Less|More|Fewer|Only|Over|Under|About|Around|Between|Nobody)\b"
)


@cache
def forms() -> dict[str, Any]:
    """The contents of views.json."""
    known: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return known


@dataclass(frozen=True)
class Contrast:
    """Two statements that differ in one part: `head` x `tail`, and `head` y `tail`."""

    head: str
    x: str
    y: str
    tail: str


def views(pairs: Sequence[LabelledPair], most: int, seed: int) -> list[LabelledPair]:
    """Claims of several views for the premises of pairs, and pairs made from views.json.

    Returns:
        At most `most` claims of views, with a quarter as many denials, and all pairs of `topics`
        and `events`. One in seven claims of views is made from these.
    """
    rng = random.Random(f"{seed}:views")  # noqa: S311  (sampling, not secrets)
    ours = [*topics(rng), *events(rng)]
    return [
        *ours,
        *claims_of_views(ours, rng, most // 7),
        *claims_of_views(pairs, rng, most - most // 7),
        *denials([*pairs, *ours], rng, most // 4),
    ]


def claims_of_views(
    pairs: Sequence[LabelledPair], rng: random.Random, most: int
) -> list[LabelledPair]:
    """Claims of two or three views for the premises of pairs, one each, at most `most`.

    The labels of the views are drawn by `KINDS`; a premise whose statements do not have them gets
    no claim. Its statements are its hypotheses, and copies of supported ones with a number
    exchanged; if it must be silent and has too few, also those of another premise.
    """
    premises: dict[str, list[LabelledPair]] = defaultdict(list)
    for pair in pairs:
        if len(pair.hypothesis) <= LONGEST:
            premises[pair.premise].append(pair)
    order = rng.sample(sorted(premises), len(premises))
    made: list[LabelledPair] = []
    for premise, other in zip(order, [*order[1:], *order[:1]], strict=True):
        if len(made) == most:
            break
        labels = rng.choices([*KINDS], [*KINDS.values()])[0]
        statements = _statements(premise, premises[premise], rng)
        if set(labels) == {Label.IRRELEVANT} and len(statements[Label.IRRELEVANT]) < len(labels):
            strangers = [pair.hypothesis for pair in premises[other]]
            copies = [copy for text in strangers for copy in _copies(text, text, rng)]
            statements[Label.IRRELEVANT] += [*strangers, *copies]
        text, label = _claim(statements, labels, rng), labels[0]
        if text is not None and labels == (Label.SUPPORT, Label.REFUTE) and rng.random() < REJECTED:
            label, rejected = rng.sample(labels, 2)
            views = [rng.choice(statements[label]), rng.choice(statements[rejected])]
            text = _filled(rng.choice(forms()["rejected"]), rng, views)
        if text is not None:
            made.append(_pair("views", premise, text, label, premises[premise][0].group))
    return made


def denials(pairs: Sequence[LabelledPair], rng: random.Random, most: int) -> list[LabelledPair]:
    """Claims that deny a statement about a premise, and documents that deny or affirm one.

    What supports a statement refutes its denial, and vice versa.
    """
    short = [pair for pair in pairs if len(pair.hypothesis) <= LONGEST]
    made = []
    for pair in rng.sample(short, min(most, len(short))):
        statement, other = pair.hypothesis, rng.choice(short)
        denied = _filled(rng.choice(forms()["denials"]), rng, [statement])
        if rng.random() < 0.5:
            turned = _opposite(pair.label)
            made.append(_pair("denials", pair.premise, denied, turned, pair.group))
            continue
        affirms = rng.random() < 0.4
        form = rng.choice(forms()["affirming" if affirms else "denying"])
        document = _filled(form, rng, [statement])
        label = Label.SUPPORT if affirms else Label.REFUTE
        claim, relation = rng.choices(
            [
                (statement, label),
                (denied, _opposite(label)),
                (other.hypothesis, Label.IRRELEVANT),
            ],
            (5, 2, 1),
        )[0]
        made.append(_pair("denials", document, claim, relation, pair.group))
    return made


def topics(rng: random.Random) -> list[LabelledPair]:
    """Opposites: documents for, against or silent about a claim, in other words than the claim."""
    made = []
    for topic in forms()["topics"]:
        claims = [(text, "for") for text in topic["yes"]] + [
            (text, "against") for text in topic["no"]
        ]
        for subject, side, (claim, meant) in product(
            topic["subjects"], ("for", "against", "silent"), claims
        ):
            label = Label.SUPPORT if side == meant else Label.REFUTE
            if side == "silent":
                label = Label.IRRELEVANT
            document = _among(rng.choice(topic[side]), topic["silent"], rng)
            called = _called(subject, rng)
            text, statement = document.format(s=called), claim.format(s=called)
            made.append(_pair("opposites", text, statement, label))
    return made


def events(rng: random.Random) -> list[LabelledPair]:
    """The same event in other words, with the same value or another, and another event."""
    made = []
    for event in forms()["events"]:
        for kind, wording, unrelated in product(event["subjects"], event["same"], event["other"]):
            subject = _called(kind, rng)
            value, wrong = _values(event["values"], rng)
            same, other = rng.sample([form for form in event["same"] if form != wording], 2)
            distractor = unrelated.format(s=subject, x=wrong)
            alone = wording.format(s=subject, x=value)
            premise = _among(alone, [distractor], rng)
            claims = [
                (same.format(s=subject, x=value), Label.SUPPORT),
                (other.format(s=subject, x=wrong), Label.REFUTE),
            ]
            if premise == alone:
                claims.append((distractor, Label.IRRELEVANT))
            made += [
                _pair("events", _capital(premise), _capital(claim), label)
                for claim, label in claims
            ]
    return made


def _statements(
    premise: str, pairs: Sequence[LabelledPair], rng: random.Random
) -> dict[Label, list[str]]:
    """Statements by how the premise relates to them."""
    by_label: dict[Label, list[str]] = {label: [] for label in Label}
    for pair in pairs:
        by_label[pair.label].append(pair.hypothesis)
        if pair.label is Label.SUPPORT:
            by_label[Label.REFUTE] += _copies(pair.hypothesis, premise, rng)
    return by_label


def _copies(text: str, within: str, rng: random.Random) -> Iterator[str]:
    """Up to `COPIES` of a statement, a number or year exchanged for one missing in a document."""
    for _ in range(COPIES):
        if (copy := falsified(text, rng, {}, within=within)) is not None:
            yield copy[0]


def _claim(
    statements: Mapping[Label, Sequence[str]], labels: tuple[Label, Label], rng: random.Random
) -> str | None:
    """A claim of views with these labels; None where the premise has no such statements."""
    if not statements[labels[0]]:
        return None
    first = rng.choice(statements[labels[0]])
    rest = [text for text in statements[labels[1]] if text != first]
    if not rest:
        return None
    # Two views on one point, if possible.
    second = rng.choice([text for text in rest if _contrast(first, text)] or rest)
    contrast = _contrast(first, second)
    if contrast and rng.random() < SHORTENED:
        return _shortened(contrast, rng, between=labels[0] is not Label.REFUTE)
    views = [first, second]
    thirds = [*statements[labels[1]], *statements[Label.IRRELEVANT]]
    thirds = [text for text in thirds if text not in views]
    if thirds and rng.random() < THIRD:
        views.append(rng.choice(thirds))
    form = rng.choice(forms()["three" if len(views) == len("abc") else "two"])
    return _filled(form, rng, rng.sample(views, len(views)))


def _contrast(first: str, second: str) -> Contrast | None:
    """Two statements as one with two values in one place, if they share most words."""
    one, other = first.rstrip(" .").split(), second.rstrip(" .").split()
    shorter = min(len(one), len(other))
    start = next((n for n in range(shorter) if one[n] != other[n]), shorter)
    end = next((n for n in range(shorter - start) if one[-1 - n] != other[-1 - n]), shorter - start)
    x, y = one[start : len(one) - end], other[start : len(other) - end]
    if not (start and x and y) or max(len(x), len(y)) > min(PART, start + end):
        return None
    head, tail = " ".join(one[:start]), " ".join(one[len(one) - end :])
    return Contrast(head, " ".join(x), " ".join(y), tail)


def _shortened(contrast: Contrast, rng: random.Random, *, between: bool) -> str:
    """Two values, and the rest said once: "the guide says 1932, the study 1936".

    With `between`, two numbers may be given as a range, which would include a right one.
    """
    head, known = contrast.head, forms()["ellipsis"]
    ranges = between and contrast.x.isdecimal() and contrast.y.isdecimal()
    if ranges and rng.random() < RANGES:
        head, known = re.sub(r" (?:in|on|at|by)$", "", head), forms()["range"]
    x, y = rng.sample([contrast.x, contrast.y], 2)
    parts = {"head": _inner(head), "Head": _capital(head), "tail": contrast.tail, "x": x, "y": y}
    return _filled(rng.choice(known), rng, [], **parts)


def _filled(form: str, rng: random.Random, statements: Sequence[str], **parts: str) -> str:
    """A form with sources, verbs and statements put in."""
    first, second = rng.sample(forms()["sources"], 2)
    verb, other = rng.choices(forms()["verbs"], k=2)
    slots = {"s": first, "t": second, "S": _capital(first), "T": _capital(second)}
    slots |= {"v": verb, "u": other} | parts
    for name, text in zip("abc", statements, strict=False):
        slots[name], slots[name.upper()] = _inner(text), _capital(text.strip().rstrip("."))
    text = re.sub(r"\s+([,.;:)])", r"\1", form.format(**slots))
    return _capital(re.sub(r"(?<=[.?!])\.", "", text))


def _inner(text: str) -> str:
    """A statement as written within a sentence."""
    bare = text.strip().rstrip(".")
    return bare[:1].lower() + bare[1:] if _INNER.match(bare) else bare


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _opposite(label: Label) -> Label:
    turned = {Label.SUPPORT: Label.REFUTE, Label.REFUTE: Label.SUPPORT}
    return turned.get(label, label)


def _among(told: str, others: Sequence[str], rng: random.Random) -> str:
    """A statement, alone or with another one before or after it."""
    if rng.random() >= AROUND:
        return told
    return " ".join(rng.sample([told, rng.choice(others)], 2))


def _called(subject: str, rng: random.Random) -> str:
    """A subject, usually with a name: "Harlow letter"."""
    return f"{rng.choice(forms()['names'])} {subject}" if rng.random() < NAMED else subject


def _values(kind: str, rng: random.Random) -> tuple[str, str]:
    """Two different values of a kind."""
    match kind:
        case "year":
            first = rng.randint(1840, 2015)
            return str(first), str(first + rng.choice((-1, 1)) * rng.choice((1, 2, 4, 9, 20)))
        case "number":
            number = rng.randint(12, 990)
            return str(number), str(number + rng.choice((-1, 1)) * rng.randint(1, number // 3 + 1))
        case _:
            plural = {"hour": "hours", "place": "places", "person": "people"}[kind]
            first_one, second_one = rng.sample(forms()[plural], 2)
            return first_one, second_one


def _pair(
    source: str, premise: str, claim: str, label: Label, group: str | None = None
) -> LabelledPair:
    return LabelledPair(premise=premise, hypothesis=claim, label=label, source=source, group=group)
