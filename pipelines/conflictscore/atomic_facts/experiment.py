"""Does the decomposition find the atomic facts that people find?"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from pipelines.conflictscore.atomic_facts.matching import (
    LEAST_SUPPORT,
    LEAST_WORDS,
    at_conjunctions,
    by_tagger,
    by_words,
    one_to_one,
)
from pipelines.conflictscore.atomic_facts.result import FactsResult, Split, Splitter
from pipelines.conflictscore.decomposition import decompose, decomposition_prompt, distinct
from pipelines.conflictscore.presets import FACTS_AS_IN_PAPER
from pipelines.data.factscore import SplitSentence, sentences
from pipelines.data.jsonl import read_bytes
from pipelines.data.sampling import sample
from pipelines.errors import InputError
from pipelines.evidence.judge import model_of
from pipelines.evidence.labeller import Labeller
from pipelines.evidence.settings import JudgeSettings
from pipelines.experiment.experiment import Experiment, Plan, RunModels, Work
from pipelines.experiment.needs import Needs
from pipelines.experiment.options import RunOptions, ServerOptions, source_of, tagger_named
from pipelines.experiment.publish import Publication, Runs
from pipelines.experiment.scores import Score, of_each
from pipelines.option import Option
from pipelines.prompts import Prompt
from serving.client import Client

NAME = "atomic-facts"

SAMPLES: Final = Path(__file__).parents[2] / "data" / "samples" / "atomic_facts.jsonl"
"""Sentences of our own in the release's format, which show how it works and not how well."""

HELP = """Measure the decomposition into claims by people's atomic facts.

Sentences are FActScore's. Facts are matched one to one with people's, by content words and by the
tagger both ways; precision and recall stand beside those of the sentence itself, of a split at
conjunctions, and of the release's model. With `--split none` these alone are measured, and no
language model is asked.

Examples:
    contested run atomic-facts --split none --out results-facts

    contested run atomic-facts --data ChatGPT.jsonl --data PerplexityAI.jsonl --sample 200 --dry-run
"""


class FactsOptions(RunOptions, ServerOptions):
    """What a user may choose about the decomposition beside people's."""

    PRESETS: ClassVar = {"as_in_paper": FACTS_AS_IN_PAPER}

    data: Annotated[
        list[Path] | None,
        Option("A file of FActScore's labelled data. Repeatable.", shown="a few of ours"),
    ] = None
    split: Annotated[
        Literal["atomic", "none"],
        Option("Whether a language model splits sentences as `--claims atomic` has it."),
    ] = "atomic"
    sample: Annotated[int | None, Field(ge=1), Option("Draw so many sentences by seed.")] = None
    seed: Annotated[int, Field(ge=0), Option("Decides which sentences are drawn.")] = 0


def plan(options: FactsOptions) -> Plan[SplitSentence, FactsResult]:
    """Read the sentences; each is split once.

    Raises:
        InputError: A file cannot be used, or has no sentence that people split.
        ServingError: There is no such profile, or no such tagger.
    """
    files = list(dict.fromkeys(options.data or [SAMPLES]))
    every = [each for file in files for each in sentences(file)]
    if not every:
        raise InputError(f"{files[0]} has no sentence that people split; name another file")
    if len({each.id for each in every}) < len(every):
        raise InputError("two files of --data have the same name; rename one")
    items = sample(every, options.sample, options.seed)[: options.limit]
    asks = options.split == "atomic"
    needs = Needs(
        role="judge" if asks else None,
        tagger=tagger_named(options.tagger, source_of(options, "judge")),
        unasked="--split none, which asks no language model",
    )

    def work(models: RunModels) -> Sequence[Work[SplitSentence, FactsResult]]:
        judge = models.judge(JudgeSettings(labeller="nli"))
        prompt = decomposition_prompt("atomic", models.prompts) if asks else None
        digest = hashlib.sha256(b"".join(map(read_bytes, files))).hexdigest()
        config = {
            "data": {"name": ", ".join(file.name for file in files), "sha256": digest},
            "split": options.split,
            "sample": [options.sample, options.seed],
            "least": {"words": LEAST_WORDS, "support": LEAST_SUPPORT},
            "prompts": {prompt.name: prompt.digest} if prompt else {},
            "sampling": {"temperature": 0.0, "seed": 0},
            **judge.about(),
        }
        if models.client is not None:
            config["splitter"] = model_of(models.client)
        each = partial(_matched, client=models.client, prompt=prompt, tagger=judge.labeller)
        return [Work(f"{NAME}.{options.split}", config, each, judge=judge)]

    people = sum(len(each.people) for each in items)
    told = f"{len(items):,} of {len(every):,} sentences, with {people:,} facts by people"
    return Plan(items, needs, work, told)


async def _matched(
    item: SplitSentence, client: Client | None, prompt: Prompt | None, tagger: Labeller
) -> FactsResult:
    """Split a sentence in every way, and match what comes of it with people's facts."""
    people = distinct(item.people)
    facts: dict[Splitter, tuple[str, ...]] = {
        "sentence": distinct([item.sentence]),
        "conjunctions": distinct(at_conjunctions(item.sentence)),
        "release": distinct(item.model),
    }
    problem = raw = None
    if prompt is not None:
        made = await decompose(item.sentence, client, prompt)
        problem, raw = made.problem, made.raw
        if problem is None:
            facts = {"ours": made.claims, **facts}
    splits = [
        Split(
            by=by,
            facts=own,
            words=one_to_one(by_words(own, people), LEAST_WORDS),
            tagger=one_to_one(await by_tagger(own, people, tagger), LEAST_SUPPORT),
        )
        for by, own in facts.items()
    ]
    status: Literal["matched", "invalid"] = "matched" if problem is None else "invalid"
    return _result(item, status=status, splits=splits, error=problem, raw=raw)


def _result(item: SplitSentence, **outcome: object) -> FactsResult:
    given = {"id": item.id, "topic": item.topic, "sentence": item.sentence}
    return FactsResult.model_validate({**given, "people": distinct(item.people), **outcome})


def _publication(runs: Runs[FactsResult]) -> Publication:
    from pipelines.conflictscore.atomic_facts.view import publication

    return publication(runs)


def _count(title: str, count: Callable[[Split], int]) -> Score[FactsResult]:
    """A score that counts something of our split of a sentence."""

    def value(result: FactsResult) -> int | None:
        ours = next((split for split in result.splits if split.by == "ours"), None)
        return None if ours is None else count(ours)

    return Score(title, of_each(value), bounds=(0, inf))


EXPERIMENT = Experiment(
    name=NAME,
    title="Atomic facts, by people",
    help=HELP,
    counted="sentences",
    options=FactsOptions,
    result=FactsResult,
    plan=plan,
    failed=lambda item, reason: _result(item, status="failed", error=reason),
    publish=_publication,
    common=("data", "sample"),
    scores={
        "facts": _count("Facts, this program's", lambda ours: len(ours.facts)),
        "found.words": _count("People's facts found, by words", lambda ours: len(ours.words)),
        "found.tagger": _count("People's facts found, by tagger", lambda ours: len(ours.tagger)),
    },
    cluster=lambda result: result.topic,
)
"""The declaration."""
