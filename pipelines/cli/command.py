"""Commands that are imported only when called, with help that fits on one screen."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from pipelines.errors import InputError

Function = Callable[..., Any]

WHOLE: Final = "contested: whole help"
"""Marks a context whose help shows all panels."""

MARKDOWN: Final[Literal["markdown"]] = "markdown"


class Command(TyperCommand):
    """A command whose help only names the options in panels; `--help-all` explains them.

    Examples go in the docstring under "Examples:", separated by blank lines.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the options without a panel, and the names of the others."""
        whole = bool(ctx.meta.get(WHOLE))
        panels: dict[str, list[str]] = {}
        for param in self.params:
            panel = getattr(param, "rich_help_panel", None)
            if panel and isinstance(param, TyperOption):
                panels.setdefault(panel, []).append(f"`{param.opts[0]}`")
                param.hidden = not whole
        if panels and not whole:
            lines = [f"* {panel}: {' '.join(names)}" for panel, names in panels.items()]
            explained = f"`{ctx.command_path} --help-all` explains these, too:"
            self.epilog = "\n".join([explained, "", *lines])
        super().format_help(ctx, formatter)


def show_whole_help(ctx: typer.Context, wanted: bool) -> None:
    """Print the help with all options and end; the callback of `--help-all`."""
    if wanted:
        ctx.meta[WHOLE] = True
        print(ctx.get_help())
        raise typer.Exit


class Listed(TyperCommand):
    """A command as its group lists it; `load` imports the command itself."""

    def __init__(
        self, name: str, about: str, function: Callable[[str], Function], panel: str | None
    ) -> None:
        super().__init__(name, help=about, rich_help_panel=panel)
        self._function = function

    def load(self) -> TyperCommand:
        """The command."""
        assert self.name  # noqa: S101
        function = self._function(self.name)
        app = typer.Typer(add_completion=False, rich_markup_mode=MARKDOWN)
        app.command(self.name, cls=Command)(function)
        made = get_command(app)
        assert isinstance(made, TyperCommand)  # noqa: S101
        made.help = with_examples(made.help or "")
        return made


def with_examples(text: str) -> str:
    """A docstring for Markdown: each line under "Examples:" becomes a line of code."""

    def block(found: re.Match[str]) -> str:
        lines = [line.strip() for line in found[2].splitlines() if line.strip()]
        return "  \n".join([found[1], *(f"`{line}`" for line in lines)]) + "\n\n"

    return re.sub(r"^(Examples?:)\n((?: {4}.+\n?|\n(?= {4}))+)", block, text, flags=re.MULTILINE)


def listed(
    about: Mapping[str, str], function: Callable[[str], Function], panel: str | None = None
) -> dict[str, TyperCommand | TyperGroup]:
    """Commands by name, from a line about each; `function` maps a name to its implementation."""
    return {name: Listed(name, text, function, panel) for name, text in about.items()}


class Group(TyperGroup):
    """A group that imports a command when it is called.

    Args:
        name: Name of the group.
        about: Its help.
        commands: Its commands by name.
        elsewhere: Names that people may try here -> where that command is.
        panel: Heading in the help of the group around it.
    """

    def __init__(
        self,
        name: str,
        about: str,
        commands: Mapping[str, TyperCommand | TyperGroup],
        elsewhere: Mapping[str, str] | None = None,
        panel: str | None = None,
    ) -> None:
        super().__init__(
            name=name,
            help=with_examples(about),
            commands=dict(commands),
            no_args_is_help=True,
            rich_markup_mode=MARKDOWN,
            rich_help_panel=panel,
        )
        self._elsewhere = elsewhere or {}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Find and import the named command; InputError if it is elsewhere."""
        if args[0] in self._elsewhere:
            raise InputError(f"contested {args[0]} is {self._elsewhere[args[0]]}")
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Listed) else command, rest
