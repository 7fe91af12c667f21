"""Options of MADAM-RAG that `debate` and `run madam-rag` share."""

from typing import Annotated, Any

import typer

from pipelines.cli import options
from pipelines.conflictscore.settings import Settings
from pipelines.errors import InputError
from pipelines.evidence.nli import TaggerFolder
from pipelines.madam_rag.settings import (
    RELEASED,
    Agreement,
    Closing,
    DebateSettings,
    History,
    Replies,
)
from serving.connect import Source

DEBATE_PANEL = "Debate (MADAM-RAG, section 4)"

DEFAULTS = DebateSettings()

Rounds = Annotated[
    int,
    typer.Option("--rounds", min=1, help="T, the most rounds.", rich_help_panel=DEBATE_PANEL),
]
Told = Annotated[
    History | None,
    typer.Option(
        "--history",
        help="What agents are told of the round before: the aggregator's answer (`aggregate`), or "
        "the replies of the other agents (`agents`).",
        show_default=DEFAULTS.history,
        rich_help_panel=DEBATE_PANEL,
    ),
]
AgreeBy = Annotated[
    Agreement | None,
    typer.Option(
        "--agreement",
        help="When an agent has kept its answer: when both are the `same` after normalisation, or "
        "one is `contained` in the other; `never` holds all rounds.",
        show_default=DEFAULTS.agreement,
        rich_help_panel=DEBATE_PANEL,
    ),
]
CloseBy = Annotated[
    Closing | None,
    typer.Option(
        "--closing",
        help="Whose aggregate is final when all agents have kept their answers: that of the `last` "
        "round or of the `previous` one.",
        show_default=DEFAULTS.closing,
        rich_help_panel=DEBATE_PANEL,
    ),
]
ReplyIn = Annotated[
    Replies | None,
    typer.Option(
        "--replies",
        help="Hold replies to a JSON schema, or parse free text.",
        show_default=DEFAULTS.replies,
        rich_help_panel=DEBATE_PANEL,
    ),
]
AsReleased = Annotated[
    bool,
    typer.Option(
        "--as-released",
        help="As the paper's released code: `--history agents --agreement contained --closing "
        "previous --replies text`, 128 tokens a reply.",
        rich_help_panel=DEBATE_PANEL,
    ),
]
Reliable = Annotated[
    bool,
    typer.Option(
        "--reliability",
        help="Tell the aggregator how many other documents support each agent's answer and how "
        "many contradict it, by the tagger.",
        rich_help_panel=DEBATE_PANEL,
    ),
]


def settings(
    *,
    rounds: int,
    history: History | None,
    agreement: Agreement | None,
    closing: Closing | None,
    replies: Replies | None,
    as_released: bool,
) -> DebateSettings:
    """The debate that the options name.

    Raises:
        InputError: `--as-released` stands beside an option that it decides.
    """
    named: dict[str, Any] = {
        "history": history, "agreement": agreement, "closing": closing, "replies": replies,
    }  # fmt: skip
    given = {name: value for name, value in named.items() if value is not None}
    if as_released and given:
        raise InputError(f"--as-released decides --{next(iter(given))}; leave one of the two away")
    base = RELEASED if as_released else DEFAULTS
    return base.model_copy(update={**given, "rounds": rounds})


def reliability_tagger(name: str | None, source: Source) -> TaggerFolder | None:
    """The tagger that `--reliability` asks: the named one, the profile's or the shipped one.

    Raises:
        InputError: The folder is no tagger.
        ServingError: No model of that name.
    """
    return options.tagger(name, Settings(labeller="nli"), source)


def refuse_idle_tagger(name: str | None, *, reliability: bool) -> None:
    """Refuse a tagger that nobody would ask.

    Raises:
        InputError: It has no effect.
    """
    if name is not None and not reliability:
        raise InputError("--tagger has no effect without --reliability; leave it away")
