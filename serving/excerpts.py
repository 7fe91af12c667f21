"""The beginning of a text that does not fit a model's context whole."""

from collections.abc import Callable
from typing import NamedTuple

from serving.calls import Excerpt
from serving.errors import RequestError
from serving.tokens import ChatTokenizer


class Room(NamedTuple):
    """A model by its name, its context, and what of it is kept for the reply, in tokens."""

    model: str
    context: int
    reply: int


def beginning(
    text: str,
    tokenizer: ChatTokenizer,
    count: Callable[[str], int],
    room: Room,
    *,
    cut: bool,
    name: str,
) -> Excerpt:
    """As much of a text as fits the context beside prompt and reply.

    Args:
        text: What does not fit whole.
        tokenizer: The model's.
        count: Tokens of the prompt around a text.
        room: What there is.
        cut: Whether the text may be cut.
        name: What the text is, for errors.

    Raises:
        RequestError: It may not be cut, or the prompt alone is too long.
    """
    most = room.context - room.reply
    needed, tokens = count(text), len(tokenizer.encode(text))
    full = RequestError(
        f"{name} does not fit {room.model}: the prompt around it and {room.reply:,} tokens for the"
        f" reply alone fill the context of {room.context:,} tokens; raise max_model_len in the"
        " profile"
    )
    if count("") >= most:
        raise full
    if not cut:
        raise RequestError(
            f"{name} is too long for {room.model}: the prompt has {needed:,} tokens, the context"
            f" leaves {most:,} beside {room.reply} for the reply; shorten it, raise max_model_len"
            " in the profile, or allow --on-overflow cut"
        )
    keep = tokens - (needed - most)
    while keep > 0:
        shorter = tokenizer.cut(text, keep)
        excess = count(shorter) - most
        if excess <= 0:
            return Excerpt(shorter, tokens, keep)
        keep -= excess
    raise full
