"""Chat templates: found in a model's folder, rendered as transformers renders them, on a fixed day.

transformers' own function would be the same, but importing it takes ten times as long as all else
that a cached run needs.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock, Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from serving.errors import ServingError
from serving.folders import read_object

TODAY = datetime(2026, 1, 1)
"""The day that prompts are written on. Some templates write today's date into the prompt, which
would change answers from day to day."""

TEMPLATE_ARGUMENTS: dict[str, Any] = {"date_string": "1 January 2026", "enable_thinking": False}
"""Sent with every request and used for every count. Llama 3 takes its date from there; Qwen 3 and
others would open a reasoning block, where a one-token label could not stand."""

_DIRECTIVES = "YymdeBbAajHIMSpFDT"
_CLOCK = (
    "{%- macro strftime_now(format) -%}{{- format"
    + "".join(f"|replace('%{letter}', '{TODAY.strftime('%' + letter)}')" for letter in _DIRECTIVES)
    + "|replace('%-d', '1')|replace('%-m', '1') -}}{%- endmacro -%}"
)
_ANALYSIS = "Valid channels: analysis"
_OPENINGS = ("<think>", "<thinking>", "[THINK]", "<seed:think>")


def rendered(source: str, variables: Mapping[str, Any]) -> str:
    """The text that a template makes, by the rules of transformers and with today's date fixed.

    A template reaches nothing outside its sandbox. It may take long, as it may in the server.

    Raises:
        ServingError: It is no Jinja template, or refuses its variables.
    """
    try:
        return _compiled(on_a_fixed_day(source)).render(**variables)
    except TemplateSyntaxError as error:
        problem = f"cannot be read: {error}"
    except Exception as error:  # a template's expressions raise anything
        problem = f"refuses the messages: {str(error) or type(error).__name__}"
    raise ServingError(f"the model's chat template {problem}")


class _Generation(Extension):
    """`{% generation %}`: marks what the assistant wrote, for training; here it shows as it is."""

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
    """The template with a clock of its own, where it asks for the time; a server is given the same.

    Arguments cannot do it: `strftime_now` is a function, and requests carry values.
    """
    return _CLOCK + source if "strftime_now" in source else source


def reasons(prompt: str) -> bool:
    """Whether the reply to a rendered prompt goes on, or begins, with reasoning.

    The prompt ends within a block of it, or tells gpt-oss of its channel for it. Models whose
    prompts show nothing (the first distillates of DeepSeek R1) are known by their profile alone.
    """
    return prompt.rstrip().endswith(_OPENINGS) or _ANALYSIS in prompt


def read(folder: Path) -> tuple[str, Mapping[str, str]]:
    """The chat template of a model's folder, and the special tokens it may use, by name.

    Raises:
        ServingError: A file is not readable, or there is no template.
    """
    config_file = folder / "tokenizer_config.json"
    config = read_object(config_file) if config_file.exists() else {}
    # Each is a string, or a dict that holds it.
    tokens = {
        name: value.get("content") if isinstance(value, dict) else value
        for name, value in config.items()
        if name.endswith("_token")
    }
    special = {name: text for name, text in tokens.items() if isinstance(text, str)}
    if (file := folder / "chat_template.jinja").exists():
        return file.read_text("utf-8"), special
    # Processors of multimodal models keep it in a file of their own.
    file = folder / "chat_template.json"
    found = (read_object(file) if file.exists() else config).get("chat_template")
    if isinstance(found, list):  # several by name; one is for calls of tools
        found = next((one["template"] for one in found if one.get("name") == "default"), None)
    if not isinstance(found, str):
        raise ServingError(
            f"{folder} has no chat template, so it is a base model; use an instruction-tuned "
            "model for this role, or put a chat_template.jinja into the folder"
        )
    return found, special
