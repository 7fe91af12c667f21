"""Prints one example's blocks on a terminal, with untrusted text made safe."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Column, Table

from pipelines.report import blocks, texts
from pipelines.report.blocks import Cell, Heatmap, Matrix
from pipelines.report.texts import Block, Inline, Span, Tone, visible

STYLES: Final[dict[Tone, str]] = {
    "support": "green",
    "contradict": "red",
    "both": "magenta",
    "invalid": "yellow",
    "irrelevant": "dim",
    "strong": "bold",
}
"""Styles of tones; other tones are plain."""

RELATIONS: Final = {
    "SUPPORTS": "[green]+ supports[/green]",
    "CONTRADICTS": "[red]- contradicts[/red]",
    "IRRELEVANT": "[dim]. irrelevant[/dim]",
    "INVALID": "[yellow]? unreadable[/yellow]",
}

TEXT_SHOWN: Final = 300
"""Maximum characters shown of a document."""


def show(console: Console, made: Iterable[Block]) -> None:
    """Print blocks, except pictures and folded content.

    Text cannot affect the terminal if the console has `emoji=False`.
    """
    for block in drawn(made):
        console.print(block)


def drawn(made: Iterable[Block]) -> Iterator[RenderableType]:
    """Blocks for rich; a heading only if something under it is shown."""
    heading = ""
    for block in made:
        if isinstance(block, texts.Heading):
            heading = f"\n[bold]{plain(block.text)}[/bold]"
        elif (shown := _drawn(block)) is not None:
            if heading:
                yield heading
            yield shown
            heading = ""


def _drawn(block: Block) -> RenderableType | None:  # noqa: PLR0911, PLR0912  (a line for each kind)
    match block:
        case texts.Line():
            return _line(block.content)
        case texts.Items():
            return "\n".join(f"• {_line(item)}" for item in block.items)
        case texts.Text():
            return _marked(block.text, block.spans)
        case texts.Note():
            label = f"{plain(block.label)}: " if block.label else ""
            return f"[dim]{label}{plain(block.text)}[/dim]"
        case texts.Quote():
            return f"“{plain(block.text)}”"
        case texts.Unread():
            return f"[yellow]could not be read ({plain(block.problem)})[/yellow]"
        case texts.Trouble():
            return f"[yellow]{plain(block.title)}: {plain(block.text)}[/yellow]"
        case texts.Bars():
            bars = sorted(block.bars, key=lambda bar: -bar.share)
            return ", ".join(f"{plain(bar.label)} {bar.share:.2f}" for bar in bars)
        case texts.Sentences():
            return "\n".join(map(_sentence, block.sentences)) or None
        case blocks.Facts():
            return "\n".join(line for fact in block.facts for line in _fact(fact))
        case blocks.Grid():
            return _table(block.columns, ([_line(cell) for cell in row] for row in block.rows))
        case blocks.Sources():
            return "\n".join(map(_source, block.sources)) or None
        case blocks.Cards():
            return Group(*(_card(card) for card in block.cards))
        case blocks.Choice():
            return Group(*(_card(card) for card in block.options))
        case blocks.Debate():
            return _debate(block)
        case Matrix():
            return Group(_matrix(block), *_why(block))
        case Heatmap():
            return _heatmap(block)
    return None


def _line(content: Sequence[Inline]) -> str:
    return "  ".join(map(_inline, content))


def _inline(part: Inline) -> str:
    match part:
        case str():
            return plain(part)
        case texts.Chip():
            said = f"{part.sign} {part.text or part.said}".strip()
            return _styled(STYLES.get(part.tone, ""), said)
        case texts.Cite():
            return f"[cyan]\\[{part.number}][/cyan]"
        case texts.Strong():
            return _styled("bold", part.text)
        case texts.Aside():
            return _styled("dim", part.text)


def _styled(style: str, text: str) -> str:
    return f"[{style}]{plain(text)}[/{style}]" if style else plain(text)


def _marked(text: str, spans: Sequence[Span]) -> str:
    """A text with its marked passages in bold."""
    parts, place = [], 0
    for span in spans:
        parts += [plain(text[place : span.start]), _styled("bold", text[span.start : span.end])]
        place = span.end
    return "".join([*parts, plain(text[place:])])


def _sentence(sentence: texts.Sentence) -> str:
    parts: list[Inline] = [sentence.text, *sentence.after]
    if sentence.verdict is not None:
        parts.append(sentence.verdict)
    return " ".join(map(_inline, parts))


def _fact(named: blocks.Fact) -> Iterator[str]:
    first, *more = named.lines or ((),)
    yield f"{plain(named.label)}: {_line(first)}"
    yield from map(_line, more)


def _source(source: blocks.Source) -> str:
    about = "  ".join(map(_inline, source.about))
    head = f"[cyan]\\[{source.number}][/cyan] [bold]{plain(source.title)}[/bold]  {about}"
    passage = source.text[source.spans[0].start : source.spans[0].end] if source.spans else ""
    text = " ".join((passage or source.text).split())
    return f"{head.rstrip()}\n    {plain(text[:TEXT_SHOWN])}"


def _card(card: blocks.Card) -> RenderableType:
    return Group(
        f"[bold]{plain(card.title)}[/bold]",
        Padding(Group(*drawn(card.content)), (0, 2), expand=False),
    )


def _table(columns: Iterable[str], rows: Iterable[Sequence[RenderableType]]) -> Table:
    table = Table(*(Column(plain(name)) for name in columns), show_lines=True)
    for row in rows:
        table.add_row(*row)
    return table


def _debate(debate: blocks.Debate) -> Table:
    numbers = range(1, len(debate.conclusions) + 1)
    table = Table(
        plain(debate.corner),
        *(Column(f"round {number}", ratio=1) for number in numbers),
        show_lines=True,
        caption=plain(debate.end),
        caption_justify="left",
    )
    for voice in debate.voices:
        title = f"[dim]{plain(voice.title)}[/dim]"
        head = Group(*drawn(voice.head), title)
        table.add_row(head, *(Group(*drawn(cell)) for cell in voice.cells))
    cells = (Group(*drawn(cell)) for cell in debate.conclusions)
    table.add_row(Group(*drawn(debate.closing)), *cells)
    return table


def _matrix(matrix: Matrix) -> Table:
    table = Table(Column(plain(matrix.corner), ratio=3), show_lines=True)
    for source in matrix.sources:
        table.add_column(plain(source.title), ratio=1)
    table.add_column("")
    for row in matrix.rows:
        chip = _inline(row.chip) if row.chip else ""
        table.add_row(plain(row.text), *map(_relation, row.cells), chip)
    return table


def _relation(cell: Cell | None) -> str:
    if cell is None:
        return ""
    sure = dict(cell.shares).get(cell.relation)
    said = "" if sure is None else f" {sure:.0%}"
    return f"{RELATIONS[cell.relation]}{said}{', unsure' if cell.unsure else ''}"


def _why(matrix: Matrix) -> Iterator[str]:
    """Verdicts of documents on claims, with the judge's reasons, if any."""
    for row in matrix.rows:
        for source, cell in zip(matrix.sources, row.cells, strict=True):
            if cell is None or not (cell.span or cell.quote or cell.reasoning):
                continue
            yield (
                f"[bold]{plain(source.title)}[/bold] on “{plain(row.text)}”: "
                f"{RELATIONS[cell.relation]}"
            )
            span = cell.span
            quote = source.text[span.start : span.end] if span else cell.quote
            if quote:
                yield f"  “{plain(quote)}”{'' if cell.found else ' (not in the document)'}"
            if cell.reasoning:
                yield f"  [dim]{plain(cell.reasoning)}[/dim]"
            if cell.read:
                yield f"  [yellow]{plain(cell.read)}[/yellow]"


def _heatmap(shown: Heatmap) -> Table | None:
    """The texts of a map with their shares; those with shares up to the limit are marked."""
    parts = [
        *((part, shown.left_out) for part in shown.given),
        *((part, shown.added) for part in shown.response),
    ]
    if all(part.share is None for part, _ in parts):
        return None
    form = "{:.2f}" if shown.nats else "{:.2%}"
    table = Table("", Column("nats" if shown.nats else "score", justify="right"), show_lines=True)
    table.add_column("", ratio=1)
    for part, mark in parts:
        share = "–" if part.share is None else form.format(part.share)
        if mark and part.share is not None and part.share <= shown.limit:
            share += f" [yellow]{plain(mark)}[/yellow]"
        table.add_row(plain(part.label) or "response", share, plain(part.text))
    return table


def plain(text: str) -> str:
    """Text of documents and models for rich: neither markup nor control characters.

    Print it on a console with `emoji=False`; otherwise rich replaces names between colons.
    """
    shown = escape(visible(text))
    # With an odd number of backslashes at the end, the last would escape the tag after it.
    return f"{shown}\\" if (len(shown) - len(shown.rstrip("\\"))) % 2 else shown


def plain_json(text: str) -> str:
    """The same JSON, with characters that `visible` would replace written as escapes."""
    return "".join(sign if visible(sign) == sign else _escaped(sign) for sign in text)


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
