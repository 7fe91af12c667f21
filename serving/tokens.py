"""A model's own tokenizer and chat template, without loading the model (or torch).

Counts agree with the server's: the same template rendered by the same rules, the same tokenizer
file. A template is rendered as transformers renders it, with a fixed date; transformers' own
function would give the same, but importing it takes ten times as long as everything else in a
cached run.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock, Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from serving.errors import ServingError
from serving.folders import read_object

Message = Mapping[str, str]
"""`{"role": "system" | "user" | "assistant", "content": ...}`"""

ENGINES_OWN = "<prompt_embeds>"
"""vLLM refuses chats with this in a text if it was started with `prompt_embeds`."""

PIECE = 1024
"""Minimum characters of a piece of text, except for the last; pieces are counted separately."""

KEPT = 16_384
"""Most pieces whose counts are kept: about 16 MB of text."""

END = re.compile(r"[^\W\d_](?=[ \n])")
"""A letter followed by white space. Tokenizers begin a new token there."""

INSIDE = re.compile(r"(?:[^\W\d_]|\ufffd)[ \n]")
"""The same within a token; U+FFFD, part of a character, may belong to a letter."""

MOST_BYTES = 33
"""Most UTF-8 bytes of a character in any Unicode normal form; a token has at least one byte."""

TODAY = datetime(2026, 1, 1)
"""The date in prompts. Some templates write today's date into the prompt, which would make answers
differ from day to day."""

TEMPLATE_ARGUMENTS: dict[str, Any] = {"date_string": "1 January 2026", "enable_thinking": False}
"""Sent with every request and used for every count. Llama 3 takes its date from them; Qwen 3 and
others would otherwise open a reasoning block, where a one-token label is impossible."""

_DIRECTIVES = "YymdeBbAajHIMSpFDT"
_CLOCK = (
    "{%- macro strftime_now(format) -%}{{- format"
    + "".join(f"|replace('%{letter}', '{TODAY.strftime('%' + letter)}')" for letter in _DIRECTIVES)
    + "|replace('%-d', '1')|replace('%-m', '1') -}}{%- endmacro -%}"
)
_ANALYSIS = "Valid channels: analysis"
_OPENINGS = ("<think>", "<thinking>", "[THINK]", "<seed:think>")


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
        source, special = chat_template(folder)
        return cls(tokenizer, source, special)

    @cached_property
    def always_reasons(self) -> bool:
        """Whether the model reasons before every reply, judging by its prompts.

        The prompt ends within a reasoning block, or names gpt-oss's channel for it. Models whose
        prompts show nothing (the first distillates of DeepSeek R1) are known only by their profile.
        """
        prompt = self.render([{"role": "user", "content": "?"}])
        return prompt.rstrip().endswith(_OPENINGS) or _ANALYSIS in prompt

    @cached_property
    def _special(self) -> tuple[re.Pattern[str], ...]:
        added = self.tokenizer.get_added_tokens_decoder().values()
        names = [token.content for token in added if token.special and len(token.content) > 1]
        return _patterns([*names, ENGINES_OWN])

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt that the chat template makes; ServingError if it refuses the messages."""
        return rendered(
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

    def count(self, messages: Sequence[Message], room: int = 0) -> int:
        """Number of prompt tokens of a chat request; shared beginnings are tokenised once.

        It may return an upper bound if that is within the room.
        """
        prompt, known = self.render(messages), self._known
        parts = list(pieces(prompt)) if self.pieces_add_up else [prompt]
        counts = {part: count for part in parts if (count := known.get(part))}
        most = sum(counts.get(part) or most_tokens(part) for part in parts)
        if self.pieces_add_up and most <= room:
            return most
        new = [part for part in dict.fromkeys(parts) if part not in counts]
        encodings = self.tokenizer.encode_batch_fast(new, add_special_tokens=False)
        counts |= {part: len(encoding) for part, encoding in zip(new, encodings, strict=True)}
        if len(known) > KEPT:
            known.clear()
        known.update(counts)
        return sum(counts[part] for part in parts)

    @cached_property
    def _known(self) -> dict[str, int]:
        """Token counts of known pieces; threads may share it."""
        return {}

    @cached_property
    def pieces_add_up(self) -> bool:
        """Whether the tokens of a text are those of its pieces.

        This holds for byte-pair encoding if no token reaches over the end of a piece and none is
        added at the beginning of a text, as in Llama 3, Qwen, Gemma and SmolLM but not in Llama 2.
        """
        if type(self.tokenizer.model).__name__ != "BPE":
            return False
        decoder = self.tokenizer.decoder
        for token in self.tokenizer.get_vocab(with_added_tokens=True):
            # White space as byte-level and SentencePiece vocabularies write it, and plain.
            if any(token.find(space, 1) > 0 for space in "ĠĊ▁ \n"):
                plain = decoder.decode(["a", token])[1:] if decoder is not None else token
                if INSIDE.search(plain) or INSIDE.search(token):
                    return False
        return all(
            self.encode(one + other) == self.encode(one) + self.encode(other)
            for one, other in (("The river", " is long."), ("The river", "\nIt is long."))
        )

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text, without special tokens around it."""
        # A batch, unlike a single text, is tokenised without holding Python's global lock.
        (encoding,) = self.tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return list(encoding.ids)

    def plain(self, text: str, *, begins: bool) -> tuple[list[int], list[tuple[int, int]]]:
        """Token ids of a text without a chat template, and each token's characters.

        Special tokens written in the text are plain text. If it `begins` the model's input, special
        tokens are added as the tokenizer puts them around texts; they have no characters.
        """
        (encoding,) = self._literal.encode_batch([text], add_special_tokens=begins)
        return list(encoding.ids), [(int(start), int(end)) for start, end in encoding.offsets]

    @cached_property
    def _literal(self) -> Tokenizer:
        literal = Tokenizer.from_str(self.tokenizer.to_str())
        literal.encode_special_tokens = True
        return literal

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
        """The text with special tokens and `COMMON_SPECIAL` in it turned into plain text.

        A document that contains `<|im_end|>` would otherwise end the user's turn and could
        impersonate the assistant. A space after the first character breaks the token.
        """
        return _broken(text, self._special)


COMMON_SPECIAL: Mapping[str, str] = {
    "<": r"\|[^|<>\n]{1,40}\|>|/?s>|(?:bos|eos|pad|unk|mask|prompt_embeds)>"
    r"|(?:start|end)_of_(?:turn|image)>|</?SYS>>",
    "[": r"/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|THINK)\]",
}
"""Special tokens and role markers of the Llama, Qwen, Gemma and Mistral families, as written: first
character -> pattern of the rest. Some templates write theirs, such as [INST], as plain text."""


def _patterns(names: Iterable[str] = ()) -> tuple[re.Pattern[str], ...]:
    """Patterns of special tokens and `COMMON_SPECIAL`, one per first character, which is fast."""
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
        text = pattern.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
    return text


def pieces(text: str) -> Iterator[str]:
    """The parts of a text, in order; texts with equal beginnings share their first parts."""
    start = 0
    while end := END.search(text, start + PIECE):
        yield text[start : end.end()]
        start = end.end()
    yield text[start:]


def most_tokens(text: str) -> int:
    """An upper bound on the tokens of a text, without tokenising it."""
    beyond_ascii = 0 if text.isascii() else len(text.encode("utf-8", "replace")) - len(text)
    return len(text) + (MOST_BYTES - 1) * beyond_ascii


def rendered(source: str, variables: Mapping[str, Any]) -> str:
    """The text that a template makes, by the rules of transformers and with today's date fixed.

    A template cannot reach outside its sandbox. It may take long, as in the server.

    Raises:
        ServingError: The source is not a Jinja template, or refuses its variables.
    """
    try:
        return _compiled(on_a_fixed_day(source)).render(**variables)
    except TemplateSyntaxError as error:
        problem = f"cannot be read: {error}"
    except Exception as error:  # a template's expressions raise anything
        problem = f"refuses the messages: {str(error) or type(error).__name__}"
    raise ServingError(f"the model's chat template {problem}")


class _Generation(Extension):
    """`{% generation %}`: marks the assistant's text, for training; here the text is unchanged."""

    tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return CallBlock(self.call_method("_as_it_is"), [], [], body).set_lineno(line)

    def _as_it_is(self, caller: Any) -> str:
        return str(caller())


@lru_cache(maxsize=16)
def _compiled(source: str) -> Template:
    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)
    environment.globals["raise_exception"] = raise_exception
    return environment.from_string(source)


def on_a_fixed_day(source: str) -> str:
    """The template with a fixed clock if it asks for the time; a server is given the same template.

    An argument cannot replace `strftime_now`, as it is a function and requests carry only values.
    """
    return _CLOCK + source if "strftime_now" in source else source


def chat_template(folder: Path) -> tuple[str, Mapping[str, str]]:
    """The chat template of a model's folder, and the special tokens it may use, by name.

    Raises:
        ServingError: A file is not readable, or the template is missing.
    """
    config_file = folder / "tokenizer_config.json"
    config = read_object(config_file) if config_file.exists() else {}
    # Each token is a string, or a dict with the string.
    tokens = {
        name: value.get("content") if isinstance(value, dict) else value
        for name, value in config.items()
        if name.endswith("_token")
    }
    special = {name: text for name, text in tokens.items() if isinstance(text, str)}
    if (file := folder / "chat_template.jinja").exists():
        return file.read_text("utf-8"), special
    # Processors of multimodal models keep it in a separate file.
    file = folder / "chat_template.json"
    template = (read_object(file) if file.exists() else config).get("chat_template")
    if isinstance(template, list):  # several by name; one is for tool calls
        template = next(
            (entry["template"] for entry in template if entry.get("name") == "default"), None
        )
    if not isinstance(template, str):
        raise ServingError(
            f"{folder} has no chat template, so it is a base model; use an instruction-tuned "
            "model for this role, or put a chat_template.jinja into the folder"
        )
    return template, special
