"""`contested run conrag`: ConRAG, its baselines and its ablations over a data set of claims."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.markup import escape

from pipelines.cli import conrag_options, options
from pipelines.cli.conrag_options import DEFAULTS, SEARCH_PANEL
from pipelines.cli.index import Embedder, default_embedder
from pipelines.cli.progress import STDERR, Shown, progress
from pipelines.cli.report import publish
from pipelines.cli.score import client_of, spent
from pipelines.cli.tagging import counted
from pipelines.conflictscore import run as conflictscore
from pipelines.conrag.evaluation import run as evaluation
from pipelines.conrag.evaluation.datasets import ALCE, HALVED, Dataset, digest_of, read
from pipelines.conrag.evaluation.plain import plain_writer
from pipelines.conrag.evaluation.run import Find
from pipelines.conrag.evaluation.written import Writers
from pipelines.conrag.generator import generator as generator_of
from pipelines.conrag.settings import ConragSettings
from pipelines.data import jsonl
from pipelines.data.released import Part
from pipelines.errors import InputError
from pipelines.evidence.examples import SAMPLES
from pipelines.evidence.store import JudgementStore, default_store
from pipelines.runs.folder import RunFolder
from pipelines.runs.provenance import finished, provenance
from pipelines.runs.runner import IN_FLIGHT, IN_FLIGHT_UNSERVED


def run_conrag(
    dataset: Annotated[
        Literal[
            "claims",
            "fool-me-twice",
            "climate-fever",
            "wice",
            "scifact",
            "fever",
            "ragtruth",
            "alce",
        ],
        typer.Option(
            help="What the file is: a released data set, or `claims` in the format of "
            "docs/conflict-detection.md. Those of `alce` are questions, the others claims."
        ),
    ] = "claims",
    data: Annotated[
        Path | None,
        typer.Option(help="The file of claims.", show_default="bundled samples, of `claims`"),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Of scifact, its corpus.jsonl; of fever, the folder wiki-pages; of ragtruth, "
            "source_info.jsonl."
        ),
    ] = None,
    half: Annotated[
        Part | None,
        typer.Option(
            help="Which half of the claims. The tagger is trained on the other half of some sets.",
            show_default="test of fool-me-twice, climate-fever and wice, else all",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Run folder; made, or continued.")] = Path("results"),
    limit: Annotated[int | None, typer.Option(min=1, help="Take only the first N claims.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say how much is to be read; ask no model.")
    ] = False,
    on_error: Annotated[
        jsonl.OnError,
        typer.Option(help="Stop at a claim that cannot be judged, or skip and count it."),
    ] = "stop",
    on_overflow: options.OnOverflow = "error",
    among: Annotated[
        evaluation.Scope,
        typer.Option(
            help="Find a claim's passages among its `own`, or among those of `all` claims.",
            rich_help_panel=SEARCH_PANEL,
        ),
    ] = "own",
    method: conrag_options.Method = None,
    depth: conrag_options.Depth = DEFAULTS.depth,
    embedder: Embedder = None,
    size: conrag_options.Size = DEFAULTS.packet.size,
    tau: conrag_options.Tau = DEFAULTS.packet.tau,
    per_cluster: conrag_options.PerCluster = DEFAULTS.packet.per_cluster,
    delta: conrag_options.Delta = DEFAULTS.delta,
    margin: conrag_options.MarginOf = DEFAULTS.margin,
    weights: conrag_options.WeightsBy = DEFAULTS.weights,
    sources: conrag_options.Sources = DEFAULTS.policy.sources,
    generator: Annotated[
        conrag_options.Writer | None,
        typer.Option(
            help="Who writes every method's answers: a template that quotes, or a language model.",
            show_default="template; llm of alce",
        ),
    ] = None,
    labeller: conrag_options.Labeller = None,
    tagger: options.Tagger = None,
    risk: options.Risk = None,
    evidence: conrag_options.Evidence = None,
    prompts: options.Prompts = None,
    profile: options.Profile = None,
    model: options.ModelName = None,
    models_dir: options.ModelsDir = None,
    endpoint: options.Endpoint = None,
    strict: options.Strict = False,
    cache: options.Cache = None,
    concurrency: options.Concurrency = None,
) -> None:
    """Compare ConRAG with its baselines and ablations, claim by claim.

    Every method gets the same passages with the same tags, and writes with the same template; so no
    language model is needed unless `--labeller` or `--generator` asks for one. Leaves in the run
    folder: `conrag.DATASET.jsonl` (every claim, tag and answer), `tables/` in the layout of the
    paper's Tables IV to IX, and `report.html`. Run it again with another data set and the same
    folder to have both in one table.

    Examples:
        contested run conrag --out results-conrag

        contested run conrag --dataset climate-fever --data climate-fever.jsonl --out results-conrag

        contested run conrag --dataset alce --data asqa_eval_gtr_top100.json --limit 20
    """
    if data is None and dataset != "claims":
        raise InputError(f"--dataset {dataset} needs its file; name it with --data")
    called = "questions" if dataset == ALCE else "claims"
    part = half or ("test" if dataset in HALVED else "all")
    claims = read(dataset, data or SAMPLES, corpus=corpus, part=part)
    chosen = options.settings(
        claims="whole",
        labeller=labeller or "nli",
        risk=risk,
        evidence=evidence,
        default_evidence="json",
        unevidenced="zero",
        on_overflow=on_overflow,
    )
    writes = (generator or ("llm" if dataset == ALCE else "template")) == "llm"
    if dataset == ALCE and not writes:
        raise InputError(
            "--dataset alce has questions, which a language model answers; leave "
            "--generator template away"
        )
    conrag_options.refuse_idle(
        chosen,
        writes=writes,
        tagging={
            "--tagger": tagger,
            "--risk": risk,
            "--evidence": evidence,
            "--on-overflow": on_overflow == "cut",
        },
        model={
            "--model": model,
            "--endpoint": endpoint,
            "--strict": strict,
            "--prompts": prompts,
            "--concurrency": concurrency,
        },
    )
    for option, value in {"--method": method, "--embedder": embedder, "--among": among}.items():
        if dataset == ALCE and value not in (None, "own"):
            raise InputError(
                f"{option} has no effect with --dataset alce, whose passages come ranked; leave it "
                "away"
            )
    if dataset == ALCE and chosen.asks_model and chosen.evidence == "together":
        raise InputError(
            "--evidence together reads all passages at once, and answers of alce are judged by a "
            "few of them each time; choose json or choice"
        )
    if method == "bm25" and embedder is not None:
        raise InputError("--embedder has no effect with --method bm25; leave one of them away")
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
    queries = claims.queries[:limit]
    source = options.source(
        "judge" if chosen.asks_model else "generator",
        profile=profile,
        model=model,
        models_dir=models_dir,
        endpoint=endpoint,
        strict=strict,
    )
    judge = options.tagger(tagger, chosen, source)
    if dry_run:
        own = sum(min(depth, len(query.passages)) for query in queries)
        pairs = own if among == "own" else depth * len(queries)
        of_half = "" if part == "all" else f", {part} half"
        print(
            f"{len(queries):,} {called} from {claims.file}{of_half}, "
            f"{len(claims.corpus):,} passages\n"
            f"about {pairs + (0 if writes else 2 * len(queries)):,} pairs to be judged by "
            f"{chosen.labeller}"
            + (", and every sentence of an answer by what it is shown" if dataset == ALCE else "")
            + ("\n5 answers each, written by a language model" if writes else "")
        )
        return
    folder = RunFolder(out)

    async def run(shown: Shown, find: Find) -> str:
        with JudgementStore(default_store(cache)) as store:
            async with client_of(
                source if chosen.asks_model or writes else None,
                cache=cache,
                logs=folder.logs,
                concurrency=concurrency,
                on_status=shown.status,
            ) as client:
                scorer = conflictscore.prepare(chosen, client, prompts, tagger=judge, store=store)
                writers = None
                if writes and client is not None:
                    writers = Writers(generator_of(client, prompts), plain_writer(client, prompts))
                entry = evaluation.entry_name(claims.name)
                folder.begin(
                    entry,
                    config(claims, find, settings, scorer, writers),
                    provenance() | {"profile": source.profile.name},
                )
                await evaluation.run(
                    queries,
                    find,
                    scorer.labeller,
                    settings,
                    folder,
                    dataset=claims.name,
                    writers=writers,
                    on_failure=on_error,
                    in_flight=IN_FLIGHT if client is not None else IN_FLIGHT_UNSERVED,
                    on_start=shown.begin,
                    on_result=lambda _: shown.advance(scorer.usage),
                )
                looked_up = scorer.from_store()
                if scorer.usage.calls or looked_up["pairs"]:
                    folder.note(entry, finished(scorer.usage) | {"store": looked_up})
                shown.status("")
                return spent(scorer)

    with folder.locked():
        find: Find = evaluation.as_given
        if dataset != ALCE:
            find = _search(claims, folder, method, among, embedder)
        with progress(called, len(queries)) as shown:
            cost = asyncio.run(run(shown, find))
        STDERR.print(f"[dim]{escape(cost)}[/dim]", soft_wrap=True)
        publish(folder)
    STDERR.print(f"report: {escape(str(folder.report))}   tables: {escape(str(folder.tables))}")


def _search(
    claims: Dataset,
    folder: RunFolder,
    method: Literal["bm25", "dense", "hybrid"] | None,
    among: evaluation.Scope,
    embedder: Path | None,
) -> evaluation.Search:
    """The index of the claims' passages, made or opened."""
    from pipelines.retrieval.dense import Embedder as Model  # noqa: PLC0415  (numpy)

    path = None if method == "bm25" else embedder or default_embedder()
    if method in ("dense", "hybrid") and path is None:
        raise InputError(f"--method {method} needs an embedding model; name one with --embedder")
    by = method or ("hybrid" if path else "bm25")
    with counted("passages") as moved:
        done, total = 0, len(claims.corpus)

        def on_progress(more: int) -> None:
            nonlocal done
            done += more
            moved(done, total, "")

        return evaluation.search(
            claims,
            folder.path / f"index-{claims.name}-{claims.part}-{claims.digest[:8]}",
            method=by,
            among=among,
            embedder=Model(path) if path else None,
            on_progress=on_progress,
        )


def config(
    claims: Dataset,
    find: Find,
    settings: ConragSettings,
    scorer: conflictscore.Scorer,
    writers: Writers | None,
) -> dict[str, Any]:
    """Everything that decides a result, for `run.json`.

    Args:
        claims: The data set.
        find: How passages are found.
        settings: The parameters of ConRAG.
        scorer: Who tags, and how.
        writers: The language model that writes, if one does.
    """
    about = conflictscore.config(jsonl.Dataset(claims.file, claims.digest, ()), scorer)
    about.pop("splitter", None)
    chosen = about["settings"]
    about["settings"] = {key: chosen[key] for key in ("labeller", "risk", "evidence", "cut")}
    about["labeller"] = {"identity": scorer.labeller.identity}
    about["conrag"] = settings.model_dump()
    about["half"] = claims.part
    about["retrieval"] = {"passages": digest_of(claims.corpus)}
    if isinstance(find, evaluation.Search):
        about["retrieval"] |= {
            "method": find.method,
            "among": find.among,
            "model": find.index.about.model,
        }
    else:
        about["retrieval"] |= {"method": "the release's ranking", "among": "own", "model": None}
    if writers is not None:
        about["writer"] = conflictscore.model_of(writers.bound.client)
        about["prompts"] |= {prompt.name: prompt.digest for prompt in writers.prompts}
    return about
