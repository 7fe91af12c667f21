"""Prompts are Jinja files, one per call; a user's folder can override ours."""

import hashlib
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path

import jinja2
from jinja2 import meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pipelines.errors import InputError
from pipelines.files import read_bytes

HERE = Path(__file__).parent

_EXAMPLES: dict[str, object] = {
    "k": 3,
    "documents": ["text"],
    "claims": ["text"],
    "evidence": [{"number": 1, "relation": "SUPPORTS", "cluster": "S1", "text": "text"}],
    "heard": [{"speaker": "AGGREGATOR", "answer": "text", "explanation": "text", "raw": "text"}],
    "responses": [
        {"speaker": "AGENT 1", "answer": "text", "explanation": "text", "raw": "text"},
    ],
    "context": [{"number": 1, "source": "memory", "text": "text"}],
    "consolidated": [{"text": "text", "source": "both", "documents": [1]}],
    "form": "json",
    "results": ["text"],
    "conflict": {"label": "text", "definition": "text", "expected": "text"},
    "supporting": [{"document": 1, "text": "text"}],
    "contradicting": [{"document": 2, "text": "text"}],
    "hedged": True,
    "numbers": True,
    "careful": True,
    "correct": ["text"],
    "incorrect": ["text"],
    "taxonomy": [
        {
            "number": 1,
            "type": "no-conflict",
            "label": "text",
            "short": "text",
            "definition": "text",
            "expected": "text",
            "example": {"query": "text", "results": "text"},
        }
    ],
}
"""Sample values for variables that are not strings, to test templates with."""

OPTIONAL = frozenset({"numbers"})
"""Variables that a prompt may omit."""


def fenced(text: str, name: str) -> str:
    """Put untrusted text between markers that do not occur in it.

    The marker is a hash of the text, redrawn until the text does not contain it. A document thus
    cannot close its own fence, and equal texts have equal fences, so equal prompts stay cacheable.
    Markers grow every few draws, because a long hexadecimal text may contain all the short ones.
    """
    mark = _mark(text)
    return f"<<{name} {mark}\n{text}\n{name} {mark}>>"


@lru_cache(maxsize=256)  # every claim about a document fences that document
def _mark(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    marks = (
        hashlib.sha256(b"%d %s" % (draw, data)).hexdigest()[: 4 + draw // 4] for draw in count()
    )
    return next(mark for mark in marks if mark not in text)


ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
)
ENVIRONMENT.filters["fenced"] = fenced


@lru_cache(maxsize=64)
def _compiled(source: str) -> jinja2.Template:
    return ENVIRONMENT.from_string(source)


@lru_cache(maxsize=64)
def _variables(source: str) -> frozenset[str]:
    return frozenset(meta.find_undeclared_variables(ENVIRONMENT.parse(source)))


@dataclass(frozen=True)
class Prompt:
    """One prompt template.

    Attributes:
        name: "judge/relation", for instance: also its path in an override folder, plus `.j2`.
        source: The template's text; part of a run's provenance.
    """

    name: str
    source: str

    def messages(self, **variables: object) -> list[dict[str, str]]:
        """The prompt as the single user turn of a chat.

        A single user turn works with every chat template; some do not support a system role.

        Raises:
            InputError: The template cannot be rendered with these variables.
        """
        try:
            text = _compiled(self.source).render(**variables)
        except Exception as error:  # the user's own template can fail in any way
            raise InputError(
                f"the prompt '{self.name}' cannot be filled in ({error}); fix the template"
            ) from error
        return [{"role": "user", "content": text.strip()}]

    @property
    def digest(self) -> str:
        """SHA-256 of the source, so that a table can name its prompt."""
        return hashlib.sha256(self.source.encode()).hexdigest()


def load_all(
    folder: str, variables: Mapping[str, Set[str]], overrides: Path | None = None
) -> dict[str, Prompt]:
    """The prompts of a folder, by name; `variables` maps each name to its variables. See `load`."""
    return {name: load(f"{folder}/{name}", given, overrides) for name, given in variables.items()}


def load(name: str, variables: Set[str], overrides: Path | None = None) -> Prompt:
    """Read a prompt, from the override folder if it has one.

    Args:
        name: "conflictscore/atomic", for instance.
        variables: The prompt's variables. The template must use all of them, except `OPTIONAL`, and
            no others.
        overrides: A folder with `conflictscore/atomic.j2` and so on; missing prompts fall back to
            ours.

    Raises:
        InputError: The override folder does not exist or has a template that is not one of ours, or
            the template cannot be read, does not parse, omits a variable, names an unknown one, or
            cannot be rendered.
    """
    folder, _, file = name.partition("/")
    path = HERE / folder / "prompts" / f"{file}.j2"
    if overrides is not None:
        _check_overrides(overrides)
        override = overrides / f"{name}.j2"
        path = override if override.exists() else path
    try:
        source = read_bytes(path).decode().replace("\r\n", "\n").replace("\r", "\n")
        used = _variables(source)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 at byte {error.start + 1}; save the file as UTF-8"
        ) from error
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: not a valid template: {error.message}") from error
    if missing := sorted(variables - used - OPTIONAL):
        raise InputError(
            f"{path}: the variable '{missing[0]}' is missing; write {{{{ {missing[0]} }}}} where "
            "it belongs"
        )
    if unknown := sorted(used - variables):
        raise InputError(
            f"{path}: this prompt has no variable '{unknown[0]}'; it has "
            f"{', '.join(sorted(variables))}"
        )
    prompt = Prompt(name, source)
    # Before any model is started, reject a template that cannot be rendered.
    prompt.messages(**{variable: _EXAMPLES.get(variable, "text") for variable in variables})
    return prompt


def shipped_digest(name: str) -> str | None:
    """The digest of our own prompt with that name; None if it does not exist."""
    folder, _, file = name.partition("/")
    path = HERE / folder / "prompts" / f"{file}.j2"
    return Prompt(name, path.read_text("utf-8")).digest if path.is_file() else None


def _check_overrides(folder: Path) -> None:
    """Refuse a missing override folder, and files that would be ignored silently."""
    if not folder.is_dir():
        raise InputError(f"--prompts {folder} is not a folder; see docs/prompts.md")
    ours = {f"{path.parts[-3]}/{path.name}" for path in HERE.glob("*/prompts/*.j2")}
    for path in sorted(folder.rglob("*.j2")):
        name = path.relative_to(folder).as_posix()
        if name not in ours:
            raise InputError(f"{path} matches no prompt; the prompts are {', '.join(sorted(ours))}")
