"""A language model that is asked whether a response is faithful (NPOV, section 3.3, figure 4).

It answers YES where there is no error and NO where there is one; the score is what it gives to NO.
Its prompt is code and no template, as the response task's is.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pipelines.npov.example import SIDES, NpovExample, unbraced
from pipelines.npov.likelihood import Pair, Tokens, scored, tokenised, with_prompt
from pipelines.npov.result import ErrorKind
from pipelines.npov.soft_prompt import SoftPrompt
from salience.decoder import Decoder
from salience.errors import SalienceError

_ASSERTED: Mapping[ErrorKind, str] = {
    "coverage": "All the given arguments are covered by the neutral response",
    "hallucination": "Only given arguments are contained in the neutral response",
}

LABELS = ("YES", "NO")
"""No error, an error."""


def classifier_prompt(example: NpovExample, task: ErrorKind) -> str:
    """The input sequence of figure 4, which does not tell the topic.

    Braces in texts become parentheses.
    """
    response = f"{unbraced(example.opening)} {unbraced(example.response)}"
    text = f"User question: {{{unbraced(example.question)}}}.\nNeutral response: {{{response}}}.\n"
    for side in SIDES:
        given = " ".join(f"{side}: {unbraced(each)}" for each in example.arguments(side))
        text += f"Given {side} arguments: {{{given}}}.\n"
    return f"{text}{_ASSERTED[task]}: {{"


def classifier_pairs(examples: Sequence[tuple[NpovExample, bool]], task: ErrorKind) -> list[Pair]:
    """Input and target sequences to tune a classifier on (NPOV, figure 4).

    Each example comes with whether it has the error. Without annotations, they are those that a
    response generator is tuned on and synthetic errors made from them (NPOV, appendix B.1).
    """
    return [(classifier_prompt(each, task), f"{LABELS[wrong]}}}") for each, wrong in examples]


def error_score(
    decoder: Decoder,
    example: NpovExample,
    task: ErrorKind,
    soft_prompt: SoftPrompt | None = None,
    *,
    model: str | None = None,
) -> float:
    """How likely a response has an error, in [0, 1] (NPOV, section 3.3).

    The softmax over the log-probabilities of YES and NO, of which NO's is taken. That of a label
    of several tokens is the sum of theirs. Where both are one token it is the probability of NO
    given that one of the two is said.

    The soft prompt is tuned to find the error; None asks the model as it is. `model` is the digest
    of the decoder's folder, which the soft prompt must be of.

    Raises:
        InputError: The soft prompt is of another task or model, or the example does not fit.
        SalienceError: The model gives no finite numbers.
    """
    asked, reserved = decoder.model, 0
    if soft_prompt is not None:
        soft_prompt.check(task, width=decoder.width, model=model)
        asked = with_prompt(decoder, soft_prompt.vectors)
        reserved = len(soft_prompt.vectors)
    # With the brace that follows a label in training, which is not asked for.
    pairs = [(classifier_prompt(example, task), f"{label}}}") for label in LABELS]
    yes, no = tokenised(decoder, pairs, reserved=reserved, unasked=1)
    values = np.concatenate(scored(asked, _together(yes, no), reserved=reserved))
    of_yes, of_no = np.split(values.astype(np.float64), [len(yes.asked)])
    # The softmax of two, written so that it does not overflow.
    found = float(np.exp(-np.logaddexp(0, of_yes.sum() - of_no.sum())))
    if not np.isfinite(found):
        raise SalienceError(
            f"verdicts of {decoder.folder.name} are not finite in {decoder.precision}; take fp32, "
            "or check its weights"
        )
    return found


def _together(yes: Tokens, no: Tokens) -> list[Tokens]:
    """Both labels asked for in one text, where all but the last token of one begin the other."""
    longer, shorter = (yes, no) if len(yes.ids) >= len(no.ids) else (no, yes)
    if longer.ids[: len(shorter.ids)] == shorter.ids:
        return [Tokens(longer.ids, yes.asked + no.asked)]
    return [yes, no]
