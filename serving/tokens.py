"""A model's own tokenizer and chat template, without loading the model (or torch).

The counts are those of the server: the same template rendered by the same rules, the same
tokenizer file.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tokenizers import Tokenizer

from serving import templates
from serving.calls import Excerpt
from serving.errors import ServingError
from serving.pieces import Pieces
from serving.templates import TEMPLATE_ARGUMENTS

Message = Mapping[str, str]
"""`{"role": "system" | "user" | "assistant", "content": ...}`"""

ENGINES_OWN = "<prompt_embeds>"
"""vLLM refuses chats with this in a text if it was started with `prompt_embeds`."""


@dataclass(frozen=True)
class ChatTokenizer:
    """Counts and cuts text as the model sees it.

    Attributes:
        template: Source of the chat template (Jinja), as in the folder.
        special: Names of special tokens (`bos_token`, ...) -> their text, for the template.
    """

    tokenizer: Tokenizer
    template: str
    special: Mapping[str, str]

    @classmethod
    def from_folder(cls, folder: Path) -> "ChatTokenizer":
        """Read a model folder's tokenizer and chat template.

        Raises:
            ServingError: A file is missing or unreadable, or the model has no chat template.
        """
        try:
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            tokenizer.no_truncation()
            tokenizer.no_padding()
            tokenizer.encode("a")
        except BaseException as error:  # the Rust library raises bare Exception, or panics
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            raise ServingError(
                f"{folder / 'tokenizer.json'} cannot be read as a tokenizer ({error}); "
                "export the model again with its fast tokenizer"
            ) from error
        source, special = templates.read(folder)
        return cls(tokenizer, source, special)

    @cached_property
    def always_reasons(self) -> bool:
        """Whether the model reasons before every reply, by what its prompts look like."""
        return templates.reasons(self.prompt([{"role": "user", "content": "?"}]))

    @cached_property
    def _special(self) -> tuple[re.Pattern[str], ...]:
        added = self.tokenizer.get_added_tokens_decoder().values()
        names = [token.content for token in added if token.special and len(token.content) > 1]
        return _patterns([*names, ENGINES_OWN])

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt text that the chat template makes; some templates refuse system turns."""
        return templates.rendered(
            self.template,
            {
                "messages": [dict(message) for message in messages],
                "tools": None,
                "documents": None,
                "add_generation_prompt": True,
                **self.special,
                **TEMPLATE_ARGUMENTS,
            },
        )

    def prompt(self, messages: Sequence[Message]) -> str:
        """The text of `render`, for counting, mostly without the template.

        What templates write around texts depends on the roles alone; that is asked for once. One
        that looks into a text is not seen to do so: the server has the last word.
        """
        roles = tuple(message["role"] for message in messages)
        if roles not in self._around:
            self._around[roles] = self._written_around(roles)
        if (parts := self._around[roles]) is None:
            return self.render(messages)
        texts = [message["content"] for message in messages]
        told = zip(texts, parts[1::3], parts[3::3], strict=True)
        return parts[0] + "".join(
            (text if whole else text.strip()) + after for text, whole, after in told
        )

    @cached_property
    def _around(self) -> dict[tuple[str, ...], list[str] | None]:
        return {}

    def _written_around(self, roles: Sequence[str]) -> list[str] | None:
        """What is written before turns, and then of each three strings; None if a text changes.

        A space, if spaces around its text are kept; its place; what is written behind it.
        """
        marks = [f"\u2003\ue000{place}\ue001\u2003" for place in range(len(roles))]
        made = self.render(
            [{"role": role, "content": mark} for role, mark in zip(roles, marks, strict=True)]
        )
        parts = re.split("(\u2003?)\ue000(\\d+)\ue001\u2003?", made)
        return parts if parts[2::3] == [str(place) for place in range(len(roles))] else None

    def count(self, messages: Sequence[Message]) -> int:
        """Number of prompt tokens of a chat request; an equal beginning is counted once."""
        return self.pieces.count(self.prompt(messages))

    @cached_property
    def pieces(self) -> Pieces:
        """Counts texts."""
        return Pieces(self.tokenizer)

    def beginning(self, text: str, excess: Callable[[str], int]) -> Excerpt | None:
        """As much of a text as has no excess, in tokens; None where nothing of it has none."""
        tokens = len(self.encode(text))
        keep = tokens - excess(text)
        while keep > 0:
            shorter = self.cut(text, keep)
            over = excess(shorter)
            if over <= 0:
                return Excerpt(shorter, tokens, keep)
            keep -= over
        return None

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text, without special tokens around it."""
        # A batch, unlike a single text, is tokenised without holding Python's global lock.
        (encoding,) = self.tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return list(encoding.ids)

    def plain(self, text: str, *, begins: bool) -> tuple[list[int], list[tuple[int, int]]]:
        """Token ids of a text that no chat template stands around, and each token's characters.

        Special tokens written in it are plain text. Where it `begins` what the model reads, it has
        those that the tokenizer puts around texts; they have no characters.
        """
        (encoding,) = self._literal.encode_batch([text], add_special_tokens=begins)
        return list(encoding.ids), [(int(start), int(end)) for start, end in encoding.offsets]

    @cached_property
    def _literal(self) -> Tokenizer:
        again = Tokenizer.from_str(self.tokenizer.to_str())
        again.encode_special_tokens = True
        return again

    def decode(self, ids: Sequence[int]) -> str:
        """Text of token ids."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=False))

    def cut(self, text: str, tokens: int) -> str:
        """The longest beginning of the text that is at most `tokens` tokens long."""
        (encoding,) = self.tokenizer.encode_batch([text], add_special_tokens=False)
        if len(encoding.ids) <= tokens:
            return text
        return text[: encoding.offsets[tokens - 1][1]] if tokens > 0 else ""

    def defuse(self, text: str) -> str:
        """The text with special tokens and `COMMON_SPECIAL` written in it made plain text.

        A document that contains `<|im_end|>` would otherwise end the user's turn and could speak
        with the assistant's voice. A space after the first character breaks the token.
        """
        return _broken(text, self._special)


COMMON_SPECIAL: Mapping[str, str] = {
    "<": r"\|[^|<>\n]{1,40}\|>|/?s>|(?:bos|eos|pad|unk|mask|prompt_embeds)>"
    r"|(?:start|end)_of_(?:turn|image)>|</?SYS>>",
    "[": r"/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|THINK)\]",
}
"""Special tokens and role markers of the Llama, Qwen, Gemma and Mistral families, as written: first
character -> pattern of the rest. Some templates write theirs, as [INST], as plain text."""


def _patterns(names: Iterable[str] = ()) -> tuple[re.Pattern[str], ...]:
    """Of special tokens and `COMMON_SPECIAL`, one for each first character: those search fast."""
    rests: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        rests.setdefault(name[0], []).append(re.escape(name[1:]))
    for first, rest in COMMON_SPECIAL.items():
        rests.setdefault(first, []).append(rest)
    return tuple(
        re.compile(f"{re.escape(first)}(?:{'|'.join(rest)})") for first, rest in rests.items()
    )


_COMMON = _patterns()


def defuse_common(text: str) -> str:
    """`ChatTokenizer.defuse` for a model whose tokenizer is not on this machine."""
    return _broken(text, _COMMON)


def _broken(text: str, patterns: Iterable[re.Pattern[str]]) -> str:
    """The text with a space in each special token, which makes it plain text."""
    for pattern in patterns:
        text = pattern.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)
    return text
