"""Renders a chat template in a process of its own, whose time and memory are bounded.

A template comes with a model's folder and may loop without end. Standard input, a JSON list of a
template and its variables, is answered by a JSON list: the text, or null, and what is wrong.
`templates.rendered` starts this file by its path; nothing of ours is imported.
"""

import json
import resource
import signal
import sys
from functools import partial
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import CallBlock, Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

SECONDS, BYTES = 5.0, 1 << 30
"""Processor time and memory. A text that takes more ends the process."""

LEAST, FOLD = 1_000_000, 8
"""A text has at most so many characters, and so many times those it is made of, together."""


class _Generation(Extension):
    """`{% generation %}`: marks what the assistant wrote, for training; here it shows as it is."""

    tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return CallBlock(self.call_method("_as_it_is"), [], [], body).set_lineno(line)

    def _as_it_is(self, caller: Any) -> str:
        return str(caller())


def compiled(source: str) -> Template:
    """A template by the rules of transformers."""

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)
    environment.globals["raise_exception"] = raise_exception
    return environment.from_string(source)


def answer(given: bytes) -> tuple[str | None, str]:
    """The text, or None and why."""
    source, variables = json.loads(given)
    try:
        text = compiled(source).render(**variables)
    except TemplateSyntaxError as error:
        return None, f"cannot be read: {error}"
    except Exception as error:  # a template's expressions raise anything
        return None, f"refuses the messages: {str(error) or type(error).__name__}"
    if len(text) > LEAST + FOLD * len(given):
        return None, f"writes {len(text):,} characters around the messages"
    return text, ""


def main() -> None:
    """Answer what standard input asks."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    memory = BYTES if most == resource.RLIM_INFINITY else min(BYTES, most)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    given = sys.stdin.buffer.read()
    signal.setitimer(signal.ITIMER_PROF, float(sys.argv[1]))
    print(json.dumps(answer(given)))


if __name__ == "__main__":
    main()
