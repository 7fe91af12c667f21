"""The three judges of an answer, together (CONFLICTS, section 4)."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from pipelines.conflicts.judges.behaviour import behaviour
from pipelines.conflicts.judges.grounding import Against, grounding
from pipelines.conflicts.judges.model import BEHAVIOUR, ModelJudge, model_judge
from pipelines.conflicts.judges.recall import inclusion
from pipelines.conflicts.judges.verdicts import Adherence, Inclusion, Verdicts
from pipelines.conflicts.question import Query
from pipelines.conflicts.result import Answer
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.taxonomy import ANSWERABLE, ConflictType
from pipelines.errors import InputError
from pipelines.evidence.labeller import Labeller
from pipelines.prompts import Prompt
from serving.client import Client


@dataclass(frozen=True)
class Judge:
    """Who judges: expected behaviour, of which a language model alone can tell, and facts.

    The facts are the gold answer, and the sentences by the sources that `against` names.
    """

    behaviour: ModelJudge | None
    facts: ModelJudge | Labeller
    against: Against = "cited"

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All that may be asked."""
        if isinstance(self.facts, ModelJudge):
            return tuple(self.facts.templates.values())
        model = self.behaviour
        return tuple(model.templates[name] for name in BEHAVIOUR.values()) if model else ()


def judge(
    client: Client | None,
    settings: ConflictsSettings,
    overrides: Path | None = None,
    labeller: Labeller | None = None,
) -> Judge:
    """The judges with their prompts; `overrides` is a folder with prompts of the user's own.

    Without a client, behaviour is not judged. The labeller judges recall and grounding where the
    settings name the judge "nli".

    Raises:
        InputError: The user's own prompt cannot be used, or who should judge is not there.
    """
    model = None if client is None else model_judge(client, settings.behaviour, overrides)
    if settings.judge == "nli":
        if labeller is None:
            raise InputError("the judge 'nli' needs a tagger; name one, or let a model judge")
        return Judge(model, labeller, settings.against)
    if model is None:
        raise InputError("the judge 'llm' needs a model; name one, or let the tagger judge")
    return Judge(model, model, settings.against)


async def judged(
    query: Query,
    answer: Answer,
    judge: Judge,
    *,
    type: ConflictType | None = None,  # noqa: A002  (the paper's t)
) -> Verdicts:
    """Judge an answer in every way that its query allows, all at the same time.

    Behaviour where a type is known; answer recall where questions of that type have one right
    answer and the data give it; the grounding of all sentences. An answer that could not be read,
    or is empty, is judged in no way. The type whose behaviour is expected is by default that of the
    data.

    Raises:
        RequestError: The answer or its sources do not fit the judging model's context.
        ServingError: No server can be had.
    """
    if answer.problem is not None or not answer.text.strip():
        return Verdicts()
    expected = query.conflict_type if type is None else type

    async def adherence() -> Adherence | None:
        if expected is None or judge.behaviour is None:
            return None
        return await behaviour(query.query, expected, answer.text, judge.behaviour)

    async def included() -> Inclusion | None:
        if expected not in ANSWERABLE or query.gold_answer is None:
            return None
        return await inclusion(query.query, query.gold_answer, answer.text, judge.facts)

    behaves, includes, grounds = await asyncio.gather(
        adherence(),
        included(),
        grounding(answer, query, judge.facts, judge.against),
    )
    return Verdicts(adherence=behaves, inclusion=includes, grounding=grounds)
