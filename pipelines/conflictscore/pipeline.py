"""ConflictScore of one response: decompose, judge every claim by every document, aggregate."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipelines.conflictscore.claims import (
    CHARACTERS_PER_CLAIM,
    NOTHING_GIVEN,
    RULES,
    Decomposition,
    as_cited,
    decompose,
    decomposition_prompt,
    distinct,
    sentence_claims,
    unsaid,
    whole_claim,
)
from pipelines.conflictscore.result import Result, relations_by_claim
from pipelines.conflictscore.scores import (
    both_sides,
    conflict_score_count,
    conflict_score_ratio,
    determined,
    evidence_share,
    supported_share,
)
from pipelines.conflictscore.settings import Settings
from pipelines.data.records import Example
from pipelines.errors import InputError
from pipelines.experiment.cost import Cost, calls, judging
from pipelines.experiment.experiment import Models
from pipelines.judge.judgement import in_conflict
from pipelines.judge.run_judge import RunJudge, judge_of, model_of
from pipelines.judge.store import JudgementStore
from pipelines.judge.tagger import TaggerFolder
from pipelines.prompts import Prompt
from serving.client import Client


@dataclass(frozen=True)
class Scorer:
    """The metric with its models and prompts, ready to score.

    `client` splits responses into claims with the prompt `decomposition`; without it no model is
    asked for claims.
    """

    settings: Settings
    judge: RunJudge
    client: Client | None = None
    decomposition: Prompt | None = None

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """The prompts in use."""
        return (*self.judge.prompts, *([self.decomposition] if self.decomposition else []))

    def config(self, data: str, digest: str, *further: Prompt) -> dict[str, Any]:
        """Everything that decides a score, for `run.json`, but not the number of examples.

        `model` is the judge. `tagger` and `cascade` are added where they are used, and `splitter`
        where a model splits responses but does not judge.

        Args:
            data: Name of the data file.
            digest: Its SHA-256.
            further: Prompts in use in addition to the metric's.
        """
        config = {
            "data": {"name": data, "sha256": digest},
            "settings": self.settings.model_dump(),
            "prompts": {prompt.name: prompt.digest for prompt in (*further, *self.prompts)},
            "sampling": {"temperature": 0.0, "seed": 0},
            "decomposition": RULES,
            **self.judge.about(),
        }
        if self.judge.model is None and self.decomposition and self.client is not None:
            config["splitter"] = model_of(self.client)
        return config


def prepare(
    settings: Settings,
    client: Client | None = None,
    overrides: Path | None = None,
    *,
    tagger: TaggerFolder | None = None,
    store: JudgementStore | None = None,
) -> Scorer:
    """The metric, ready for use; the library's entry point. See `judge.run_judge.judge_of`."""
    judge = judge_of(settings, client, overrides, tagger=tagger, store=store)
    return Scorer(settings, judge, client, decomposition_prompt(settings.claims, overrides))


def scorer_of(settings: Settings, models: Models) -> Scorer:
    """The metric with the models of a run."""
    return prepare(
        settings, models.judging, models.prompts, tagger=models.tagger, store=models.store
    )


async def conflict_score(example: Example, scorer: Scorer) -> Result:
    """Score one response against its documents (ConflictScore, section 3).

    Claims that come with the example are judged instead of a decomposition.

    Raises:
        InputError: A model is needed but missing, the tagger cannot be loaded, or the response has
            no documents.
        RequestError: A text does not fit the context and may not be cut.
        ServingError: No server is available.
    """
    if not example.documents:
        raise InputError(f"'{example.id}' has no documents to judge it by; give at least one")
    parts = await claims_of(example, scorer)
    if not parts.claims:
        return result(
            example,
            status="invalid",
            error=parts.problem,
            raw=parts.raw,
            copied_claims=parts.copied,
        )

    documents = as_cited(parts.claims, example.documents)
    labelled = await scorer.judge.label(parts.claims, documents)

    rows = relations_by_claim(labelled.judgements, len(example.documents))
    unevidenced = scorer.settings.unevidenced
    count = conflict_score_count(rows, unevidenced=unevidenced)
    evidence = evidence_share(rows)
    invalid = count is None and evidence != 0
    scores = {
        "cs_c": count,
        "cs_r": conflict_score_ratio(rows, unevidenced=unevidenced),
        "supported": supported_share(rows),
        "evidence": evidence,
        "both_sides": both_sides(labelled.judgements),
    }
    why = next(
        (
            f" ({judgement.reasoning})"
            for judgement in labelled.judgements
            if judgement.raw is not None
        ),
        "",
    )
    refusals = (judgement.refusal for judgement in labelled.judgements if judgement.refusal)
    unread = next(refusals, f"every one has an unreadable reply{why}")
    return result(
        example,
        status="invalid" if invalid else "scored",
        error=f"no claim could be judged: {unread}" if invalid else None,
        claims=parts.claims,
        claims_capped=parts.capped,
        copied_claims=parts.copied,
        judgements=labelled.judgements,
        undetermined_claims=sum(in_conflict(row) is None for row in rows),
        unread_claims=sum(not determined(row) for row in rows),
        truncations=(*parts.truncations, *labelled.truncations),
        **({} if invalid else scores),
    )


async def claims_of(example: Example, scorer: Scorer) -> Decomposition:
    """The claims to judge: those given with the example, or else split from the response."""
    settings, prompt, response = scorer.settings, scorer.decomposition, example.response
    if example.claims is not None:
        claims = distinct(example.claims)
        return Decomposition(claims, problem=None if claims else NOTHING_GIVEN)
    if prompt is not None:
        return await decompose(response, scorer.client, prompt, k=settings.k, cut=settings.cut)
    if settings.claims == "sentences":
        claims = sentence_claims(response, example.question)
    else:
        claims = whole_claim(response)
    return Decomposition(claims, problem=None if claims else unsaid(response))


def result(example: Example, **outcome: object) -> Result:
    """The result of an example: its fields and the outcome."""
    given = {name: value for name, value in example if name != "claims"}
    return Result.model_validate(given | outcome)


def scoring(
    settings: Settings, response: str | int, documents: int, claims: Sequence[str] | None = None
) -> Cost:
    """Cost of splitting a response in one call and judging its claims by its documents.

    The number of claims is that of `claims`; otherwise one per sentence, one, k, or at most
    characters / 10 + 2, as the settings say. A reply may contain no claim.

    Args:
        settings: The metric.
        response: The text; or the maximum tokens of a response that is yet to be written and may
            be empty, counted as four characters per token.
        documents: Number of documents that claims are judged by.
        claims: Claims to judge instead of the response's.
    """
    written = isinstance(response, int)
    length = 4 * response if isinstance(response, int) else len(response)
    known = distinct(claims) if claims is not None else ()
    if not known and isinstance(response, str) and not settings.splits:
        split = sentence_claims if settings.claims == "sentences" else whole_claim
        known = split(response)
    if known:
        return judging(settings, documents, claims=len(known))
    most = {"whole": 1, "salient": settings.k}.get(
        settings.claims, length // CHARACTERS_PER_CLAIM + 2
    )
    splitting = calls(1, 0 if written else 1) if settings.splits else Cost()
    return splitting + judging(settings, documents, claims=most, least=0)
