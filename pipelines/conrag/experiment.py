"""ConRAG, its baselines and its ablations over a data set of claims or questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from pipelines.conrag import generation
from pipelines.conrag.answer_worth import citation_judge
from pipelines.conrag.data import Dataset, Query, read
from pipelines.conrag.metrics import METRICS, OURS
from pipelines.conrag.pipeline import evaluate
from pipelines.conrag.result import ClaimResult
from pipelines.conrag.settings import CitationJudgeSettings, ConragOptions, Scope
from pipelines.conrag.view import PAGE
from pipelines.data.records import Document
from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, calls
from pipelines.experiment.cost import judging as cost_of_judging
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.options import device_of, judging, source_of
from pipelines.judge.examples import SAMPLES
from pipelines.judge.run_judge import model_of
from pipelines.judge.settings import JudgeSettings
from pipelines.metrics.alce import AT_MOST
from pipelines.option import refuse_given
from pipelines.retrieval.dense import Embedder
from pipelines.retrieval.index import ABOUT, RANK_CONSTANT, Index, Method, Retrieved, build


def verdict(result: ClaimResult) -> str:
    """The stance that ConRAG takes."""
    outcome = result.outcomes[OURS]
    return "unreadable" if outcome.undecided else outcome.stance.replace("_", " ").lower()


@dataclass(frozen=True)
class Search:
    """Finds the k passages that fit a query best, the best first.

    `about` describes it in `run.json`.
    """

    find: Callable[[Query, int], list[Retrieved]]
    about: Mapping[str, Any]


def _as_given(query: Query, k: int) -> list[Retrieved]:
    best = 1 / (RANK_CONSTANT + 1)
    scores = [1 / (RANK_CONSTANT + rank) for rank in range(1, k + 1)]
    return [
        Retrieved(passage, relevance=score / best, score=score)
        for passage, score in zip(query.passages, scores, strict=False)
    ]


AS_GIVEN: Final = Search(
    _as_given, {"method": "the release's ranking", "among": "own", "model": None}
)
"""The first k passages in the order of the data, for releases with a ranking.

Relevance falls with the rank as in reciprocal rank fusion; scores are ignored.
"""


def in_claims(dataset: Dataset, index: Index, method: Method, among: Scope) -> Search:
    """Retrieval for the claims of a data set, from an index of all its passages.

    All passages are indexed, whatever part of the data set is evaluated, since they decide BM25's
    word weights. A claim without passages (in FEVER, without evidence) is searched among those of
    all claims.
    """
    positions = {passage.id: place for place, passage in enumerate(dataset.corpus)}

    def find(query: Query, k: int) -> list[Retrieved]:
        pool = None
        if among == "own" and query.passages:
            pool = [positions[passage.id] for passage in query.passages]
        return index.search(query.claim, k=k, method=method, among=pool)

    return Search(find, {"method": method, "among": among, "model": index.about.model})


def plan(options: ConragOptions) -> Plan[Query, ClaimResult]:
    """Read the claims, to run every method on them.

    Raises:
        InputError: A file or an option cannot be used.
        ServingError: A model is missing.
    """
    _refuse_idle(options)
    claims = read(
        options.dataset, options.data or SAMPLES, corpus=options.corpus, part=options.part
    )
    queries = claims.queries[: options.limit]
    settings, tagging = options.settings, judging(options.judging, options.on_overflow)
    embedding = None if options.questions else options.embedding()
    entry = f"{EXPERIMENT.name}.{claims.name}"

    def work(models: RunModels) -> Sequence[Work[Query, ClaimResult]]:
        search = AS_GIVEN if options.questions else _search(claims, options, embedding, models)
        judge = models.judge(tagging)
        temperature = options.temperature
        seed = options.seed if temperature > 0 else 0  # at 0 nothing is sampled
        writer = None
        if options.writes:
            writer = generation.generator(
                models.asked, models.prompts, temperature=temperature, seed=seed
            )
        citing = None
        if options.judged:
            citing = citation_judge(options.citing, models, judge, cut=tagging.cut)
        prompts = [*judge.prompts, *(citing.prompts if citing else ())]
        prompts += writer.prompts.values() if writer else ()
        config: dict[str, Any] = {
            "data": {"name": claims.file, "sha256": claims.digest},
            "half": claims.part,
            "settings": tagging.judging(),
            "conrag": settings.model_dump(),
            "retrieval": {"passages": claims.corpus_digest, **search.about},
            "prompts": {prompt.name: prompt.digest for prompt in prompts},
            "sampling": {"temperature": temperature, "seed": seed},
            "judge": {"identity": judge.label.identity},
            **judge.about(),
        }
        if writer is not None:
            config["writer"] = model_of(models.asked)
        if citing is not None:
            config["citations"] = {"identity": citing.label.identity, **citing.about()}

        async def evaluated(query: Query) -> ClaimResult:
            passages = search.find(query, settings.depth)
            reads = citing.label if citing else None
            return await evaluate(
                query, passages, judge.label, settings, writer, citation_judge=reads
            )

        return [
            Work(
                entry,
                config,
                evaluated,
                judge=judge,
                second=None if citing is judge else citing,
                facts={"skipped": list(claims.skipped)} if claims.skipped else {},
            )
        ]

    skipped = claims.skipped
    return Plan(
        queries,
        options.needs(),
        work,
        _summary(claims, len(queries), options),
        remarks=[f"rows skipped: {len(skipped):,}; the first: {skipped[0]}"] if skipped else [],
        cost=partial(cost, options=options, corpus=claims.corpus),
        entries=lambda _: [entry],
    )


PACKETS, TABLES = 2, 3
"""Number of packets, and of evidence tables, to write answers from; CiteRAG reuses a packet."""


def cost(query: Query, *, options: ConragOptions, corpus: Sequence[Document]) -> Cost:
    """Cost of tagging k passages and writing from packets of at most k', by formula.

    With the template, two packets are tagged as one text each. A language model writes each text in
    one call, and may sort two of the tables in one call each. A question is answered first, in up
    to five claims. A judge of answers reads each sentence with each passage of its packet and with
    groups of its citations, and gold claims with the passages and the answers.
    """
    settings, gold = options.settings, query.gold_answer
    passages = corpus if options.among == "all" or not query.passages else query.passages
    depth = min(settings.depth, len(passages))
    packet, texts = min(settings.packet.size, depth), PACKETS + 1 + TABLES
    tagging = partial(cost_of_judging, judging(options.judging, options.on_overflow), least=0)
    total = tagging(depth, claims=1 if gold is None else generation.MOST)
    if gold is not None:
        total += calls(1, min(1, packet))
    if options.judged:
        # A list item, which is put after the question, is followed by a comma.
        listed = gold is not None and gold.listed
        sentences = generation.REPLY_TOKENS // 2 if listed else generation.SENTENCES
        # All citations of a sentence, and all but one; for three methods that cite differently.
        groups = packet + 3 * (AT_MOST + 1)
        judge = JudgeSettings(judge=options.citing.judged_by, evidence="json")
        reading = partial(cost_of_judging, judge, least=0)
        total += reading(groups, claims=texts * sentences)
        total += reading(depth + texts, claims=len(gold.claims) if gold else 0)
    if not options.writes:
        return total + tagging(PACKETS, claims=1)
    return total + calls(texts, 0) + calls(TABLES - 1 if settings.sort == "model" else 0, 0)


def _refuse_idle(options: ConragOptions) -> None:
    """Raise InputError for options that do not go with the data set."""
    named = f"--dataset {options.dataset}"
    if options.questions and options.generator == "template":
        raise InputError(
            f"{named} has questions, which a language model answers; leave out --generator template"
        )
    if options.questions:
        ranked = f"{named}, whose passages come ranked"
        refuse_given(options, ("method", "embedder", "among"), ranked)
    if not options.judged:
        reason = f"{named}, whose labels say what passages support"
        if options.dataset == "ragtruth":
            reason = "--generator template, which only quotes"
        refuse_given(options.citing, tuple(CitationJudgeSettings.model_fields), reason)
    if options.data is None and options.dataset != "claims":
        raise InputError(f"{named} needs its file; name it with --data")


def _search(
    claims: Dataset, options: ConragOptions, embedding: Path | None, models: RunModels
) -> Search:
    """Retrieval from the index of the claims' passages, created or opened.

    The method defaults to hybrid with an embedder, else to BM25.

    Raises:
        InputError: Passages are missing, or the index cannot be written or read.
    """
    device = device_of("embedder", source_of(options, "generator")) if embedding else None
    embedder = Embedder(embedding, device=device) if embedding else None
    folder = models.folder.path / f"index-{claims.name}-{claims.part}-{claims.corpus_digest[:8]}"
    with models.counting("passages", len(claims.corpus)) as counter:
        if (folder / ABOUT).exists():
            index = Index(folder, embedder)
        else:
            index = build(claims.corpus, folder, embedder, counter.advance)
    method = options.method or ("hybrid" if embedder else "bm25")
    return in_claims(claims, index, method, options.among)


def _summary(claims: Dataset, count: int, options: ConragOptions) -> str:
    half = "" if claims.part == "all" else f", {claims.part} half"
    summary = (
        f"{count:,} {'questions' if options.questions else 'claims'} from {claims.file}{half}, "
        f"{len(claims.corpus):,} passages, tagged by {options.judging.judge}"
    )
    if options.writes:
        summary += "\n6 answers each, written by a language model"
    return summary + (f"\nanswers judged by {options.citing.judged_by}" if options.judged else "")


EXPERIMENT = Experiment(
    name="conrag",
    title="ConRAG",
    options=ConragOptions,
    result=ClaimResult,
    plan=plan,
    failed=lambda query, reason: ClaimResult.of(query, "failed", error=reason),
    page=PAGE,
    metrics=METRICS,
    verdict=verdict,
    label_masses=lambda result: (passage.label_mass for passage in result.passages),
)
