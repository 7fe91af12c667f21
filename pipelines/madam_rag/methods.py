"""The methods that are compared: what each makes of one question (MADAM-RAG, section 5.1)."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from pipelines.madam_rag.astute_rag import CONSOLIDATIONS, astute_rag
from pipelines.madam_rag.baselines import Prompts, concatenated, no_rag
from pipelines.madam_rag.debate import Panel, debate
from pipelines.madam_rag.question import Question
from pipelines.madam_rag.result import Outcome
from pipelines.madam_rag.settings import DebateSettings

NO_RAG: Final = "No RAG"
CONCATENATED: Final = "Concatenated prompt"
ASTUTE: Final = "Astute RAG"
MADAM: Final = "MADAM-RAG"
WITHOUT_AGGREGATOR: Final = "MADAM-RAG w/o aggregator"
WITH_RELIABILITY: Final = "MADAM-RAG + reliability"

METHODS: Final = (NO_RAG, CONCATENATED, ASTUTE, MADAM)
"""Those of Table 1."""

ExperimentName = Literal["methods", "rounds", "support", "misinformation"]
"""Table 1; Figure 3; Figure 4 (a); Figure 4 (b)."""

COMPARED: Final[dict[ExperimentName, tuple[str, ...]]] = {
    "methods": METHODS,
    "rounds": (MADAM, WITHOUT_AGGREGATOR),
    "support": (CONCATENATED, ASTUTE, MADAM),
    "misinformation": (CONCATENATED, ASTUTE, MADAM),
}


@dataclass(frozen=True)
class Methods:
    """The methods of an experiment, by their names in order, ready to be asked.

    The panel holds MADAM-RAG's debates; all methods ask its model, and reply in the same form.
    Astute RAG consolidates so often.
    """

    names: tuple[str, ...]
    panel: Panel
    baselines: Prompts
    settings: DebateSettings
    consolidations: int = CONSOLIDATIONS


async def outcome(name: str, question: Question, methods: Methods) -> Outcome:
    """What one method makes of a question; raises as `debate`."""
    documents = [each.document for each in question.documents]
    text, panel, settings = question.question, methods.panel, methods.settings
    asked = (panel.client, methods.baselines, settings)
    if name == NO_RAG:
        return Outcome(concluded=await no_rag(text, *asked), calls=1)
    if name == CONCATENATED:
        return Outcome(concluded=await concatenated(text, documents, *asked), calls=1)
    if name == ASTUTE:
        often = methods.consolidations
        concluded, path = await astute_rag(text, documents, *asked, consolidations=often)
        return Outcome(concluded=concluded, calls=path.calls, consolidation=path)
    if name == WITHOUT_AGGREGATOR:
        settings = settings.without_aggregator()
    if name != WITH_RELIABILITY:
        panel = replace(panel, labeller=None)
    held = await debate(text, documents, panel, settings)
    return Outcome(concluded=held.concluded, calls=held.calls, debate=held)
