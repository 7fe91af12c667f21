"""`contested ask`: what a user's documents say of a claim, both sides of it."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines.cli import conrag_options, options
from pipelines.cli.conrag_options import DEFAULTS
from pipelines.cli.index import Embedder
from pipelines.cli.progress import STDERR
from pipelines.cli.score import MARKS, client_of, spent
from pipelines.cli.terminal import plain
from pipelines.conflictscore import run as conflictscore
from pipelines.conrag.answer import Answer
from pipelines.conrag.generator import Generator
from pipelines.conrag.generator import generator as written_by
from pipelines.conrag.pipeline import conrag
from pipelines.data.declarative import affirmed
from pipelines.errors import InputError
from pipelines.evidence.store import JudgementStore, default_store
from pipelines.files import check_writable
from pipelines.report.page import ModelUsed, write
from pipelines.runs.provenance import provenance


def ask(
    query: Annotated[
        str,
        typer.Argument(
            help="A claim or a question. Questions of yes or no are put as claims; others need "
            "--generator llm."
        ),
    ],
    index: Annotated[Path, typer.Option(help="The index, from `contested index build`.")] = Path(
        "index"
    ),
    method: conrag_options.Method = None,
    depth: conrag_options.Depth = DEFAULTS.depth,
    embedder: Embedder = None,
    size: conrag_options.Size = DEFAULTS.packet.size,
    tau: conrag_options.Tau = DEFAULTS.packet.tau,
    per_cluster: conrag_options.PerCluster = DEFAULTS.packet.per_cluster,
    delta: conrag_options.Delta = DEFAULTS.delta,
    generator: Annotated[
        conrag_options.Writer,
        typer.Option(help="Who writes the answer: a template that quotes, or a language model."),
    ] = "template",
    margin: conrag_options.MarginOf = DEFAULTS.margin,
    weights: conrag_options.WeightsBy = DEFAULTS.weights,
    sources: conrag_options.Sources = DEFAULTS.policy.sources,
    html: Annotated[
        Path | None, typer.Option(help="Write the answer as a page that opens without a network.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    labeller: conrag_options.Labeller = None,
    tagger: options.Tagger = None,
    risk: options.Risk = None,
    evidence: conrag_options.Evidence = None,
    on_overflow: options.OnOverflow = "error",
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
) -> None:
    """Say what documents hold for a claim and against it, with every sentence cited.

    Passages are found, tagged as supporting or refuting, and grouped; how evenly the two sides are
    balanced is the conflict score. The tagger that comes with the program is asked unless
    `--labeller` says otherwise, and the answer quotes them; then no server is needed.

    Examples:
        contested ask "The Vinland Map is a genuine fifteenth-century map."

        contested ask "Did humans hunt the mammoth to extinction?" --html mammoth.html

        contested ask "When did the last mammoths die?" --generator llm --packet 4
    """
    from pipelines.retrieval.dense import Embedder as Model  # noqa: PLC0415  (numpy)
    from pipelines.retrieval.index import Index  # noqa: PLC0415

    text = one_line_of(query)
    claim = as_claim(text)
    if claim is None and generator != "llm":
        raise InputError(
            f"'{text}' cannot be put as a claim; have a language model answer it first with "
            "--generator llm, or write the claim that passages are to support or refute"
        )
    if html is not None:
        check_writable(html)
    chosen = options.settings(
        claims="whole",
        labeller=labeller or "nli",
        risk=risk,
        evidence=evidence,
        default_evidence="json",
        unevidenced="zero",
        on_overflow=on_overflow,
    )
    writes = generator == "llm"
    conrag_options.refuse_idle(
        chosen,
        writes=writes,
        tagging={
            "--evidence": evidence,
            "--on-overflow": on_overflow == "cut",
            "--tagger": tagger,
            "--risk": risk,
        },
        model={
            "--endpoint": endpoint,
            "--model": model,
            "--strict": strict,
            "--prompts": prompts,
        },
    )
    settings = conrag_options.settings(
        depth=depth,
        size=size,
        tau=tau,
        per_cluster=per_cluster,
        delta=delta,
        margin=margin,
        weights=weights,
        sources=sources,
    )
    found = Index(index, Model(embedder) if embedder else None)
    by = method or ("hybrid" if found.about.model else "bm25")
    retrieved = found.search(claim or text, k=depth, method=by)
    source = options.source(
        "judge" if chosen.asks_model else "generator",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    judge = options.tagger(tagger, chosen, source)
    asked = source if chosen.asks_model or writes else None

    async def answered() -> tuple[Answer, list[ModelUsed], str]:
        with STDERR.status("") as status:
            async with client_of(asked, cache=cache, on_status=status.update) as client:
                with JudgementStore(default_store(cache)) as store:
                    scorer = conflictscore.prepare(
                        chosen, client, prompts, tagger=judge, store=store
                    )
                    writer = written_by(client, prompts) if writes and client else None
                    status.update("reading the passages")
                    answer = await conrag(
                        claim or text,
                        retrieved,
                        labeller=scorer.labeller,
                        settings=settings,
                        generator=writer,
                        question=claim is None,
                    )
                    return answer, models_used(scorer, writer), spent(scorer)

    answer, by_whom, cost = asyncio.run(answered())
    try:
        if html is not None:
            write_page(html, answer, by_whom, index)
    finally:  # what was found is shown though the page cannot be written
        if as_json:
            print(answer.model_dump_json(indent=2))
        else:
            show(answer, Console(emoji=False))
    STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
    if html is not None:
        STDERR.print(f"page: {escape(str(html))}", soft_wrap=True)


def one_line_of(query: str) -> str:
    """A query without superfluous white space.

    Raises:
        InputError: It is empty, or not UTF-8.
    """
    text = " ".join(query.split())
    if text.encode("utf-8", "replace").decode() != text:
        raise InputError("the query is not UTF-8; set the terminal to UTF-8")
    if not text:
        raise InputError("the query is empty; give a claim, or a question")
    return text


def as_claim(text: str) -> str | None:
    """The claim that a query puts: a claim as it is, a question of yes or no affirmed.

    Returns:
        None of other questions, which need an answer before passages can be for or against it.
    """
    return affirmed(text) if text.endswith("?") else text


def models_used(scorer: conflictscore.Scorer, writer: Generator | None) -> list[ModelUsed]:
    """Who tagged the passages, and who wrote the answer."""
    used = []
    if scorer.tagger is not None:
        used.append(ModelUsed("tagger", scorer.tagger.name, scorer.tagger.digest))
    if scorer.llm is not None:
        model = scorer.llm.client.model
        used.append(ModelUsed("judge", model.name, model.digest))
    if writer is not None:
        used.append(ModelUsed("writer", writer.client.model.name, writer.client.model.digest))
    return used


def write_page(path: Path, answer: Answer, models: list[ModelUsed], index: Path) -> None:
    """The answer as a self-contained page.

    Raises:
        InputError: The file cannot be written.
    """
    from pipelines.conrag.page import section  # noqa: PLC0415  (only for a page)

    made_with = {"query": answer.query, "index": str(index)} | provenance()
    write(path, "What the documents say", [section(answer)], made_with, models=models)


def show(answer: Answer, console: Console) -> None:
    """Print stance, answer and evidence table; nothing of it steers the terminal."""
    badge = " [reverse] disputed [/reverse]" if answer.disputed else ""
    status = "" if answer.status == "disputed" else f" [bold]{escape(answer.status)}[/bold]"
    console.print(f"[italic]{plain(answer.query)}[/italic]")
    if answer.first_answer:
        console.print(f"[dim]for and against: {plain(' '.join(answer.first_answer))}[/dim]")
    console.print(
        f"{status}{badge}  conflict score {answer.kappa:.2f}, for it {answer.support:.2f}, "
        f"against it {answer.refute:.2f}\n".lstrip()
    )
    for sentence in answer.sentences:
        cites = "".join(f" \\[{number}]" for number in sentence.cites)
        problem = f" [yellow]({escape('; '.join(sentence.problems))})[/yellow]"
        console.print(
            f"{plain(sentence.text)}[cyan]{cites}[/cyan]{problem if sentence.problems else ''}"
        )
    if answer.unsaid:
        console.print(f"[yellow]{plain(answer.unsaid)}[/yellow]")
    if answer.problem:
        console.print(f"[yellow]no answer was written ({plain(answer.problem)})[/yellow]")
    if answer.model_stance is not None and answer.model_stance is not answer.stance:
        console.print(f"[dim]the model that wrote this says {answer.model_stance.value}[/dim]")
    if not answer.evidence:
        return
    table = Table(show_lines=True)
    table.add_column("", justify="right")
    table.add_column("tag")
    table.add_column("cluster")
    table.add_column("passage", ratio=1)
    for row in answer.evidence:
        title = f"[bold]{plain(row.passage.title or row.passage.id)}[/bold]"
        said = f"\n{plain(row.rationale)}" if row.rationale else ""
        table.add_row(
            str(row.number),
            f"{MARKS[row.relation]} {row.confidence:.0%}",
            row.cluster,
            f"{title}{said}",
        )
    console.print()
    console.print(table)
    if answer.unreadable:
        console.print(f"[yellow]{len(answer.unreadable)} labels could not be read[/yellow]")
    for cut in answer.truncations:
        console.print(f"[yellow]{plain(cut.text)}: read {cut.kept} of {cut.tokens} tokens[/yellow]")
