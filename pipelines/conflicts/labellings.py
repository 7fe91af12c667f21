"""Models' labels of conflict types, behaviour and grounding, which people can give too."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final, get_args

from pipelines.conflicts.result import Grounds, QueryResult
from pipelines.conflicts.settings import Classifier
from pipelines.conflicts.taxonomy import CATEGORY, TAXONOMY
from pipelines.experiment.experiment import Labelled, Labelling, by_name

ADHERES, FAILS = "adheres", "does not adhere"


def _types(classifier: Classifier, result: QueryResult) -> Iterator[Labelled]:
    """The query, if the classifier was asked."""
    said = result.predictions.get(classifier)
    if said is None:
        return
    sources = enumerate(result.asked.sources, 1)
    yield Labelled(
        (),
        (
            ("Question", result.asked.query),
            *((f"Source {number}", source.as_read()) for number, source in sources),
            ("What the types mean", _MEANINGS),
        ),
        None if said.type is None else said.type.value,
        by_name(said.probabilities),
    )


def _answers(result: QueryResult) -> Iterator[Labelled]:
    """The judged answers; a person reads what the judge of behaviour reads."""
    for strategy, outcome in result.outcomes.items():
        said = outcome.judged.adherence
        if said is None:
            continue
        category = CATEGORY[said.type]
        yield Labelled(
            (strategy,),
            (
                ("Question", result.asked.query),
                ("Expected", f"{category.definition} {category.expected}"),
                ("Answer", outcome.answer.text),
            ),
            None if said.adheres is None else ADHERES if said.adheres else FAILS,
            None,
            {"strategy": strategy, "type": category.short},
        )


def _sentences(result: QueryResult) -> Iterator[Labelled]:
    """The sentences whose grounding was judged, with the sources used to judge them."""
    for strategy, outcome in result.outcomes.items():
        said = outcome.judged.grounding
        if said is None:
            continue
        sentences = zip(outcome.answer.sentences, said.sentences, strict=True)
        for number, (sentence, judged) in enumerate(sentences, 1):
            # The rule for sentences without facts records no sources, but they may cite some.
            sources = judged.sources or sentence.cites
            yield Labelled(
                (strategy, number),
                (
                    ("Question", result.asked.query),
                    ("Sentence", sentence.text),
                    ("The whole answer", outcome.answer.text),
                    *((f"Source {n}", result.asked.sources[n - 1].as_read()) for n in sources),
                    *(() if sources else (("Sources", "It cites none."),)),
                ),
                None if judged.grounds is None else judged.grounds.value,
                groups={"strategy": strategy},
            )


_TYPES: Final = {category.type.value: category.short for category in TAXONOMY}
_MEANINGS: Final = "\n".join(f"{category.short}. {category.definition}" for category in TAXONOMY)

LABELLINGS: Final[Mapping[str, Labelling[QueryResult]]] = {
    **{
        f"type-{classifier}": Labelling(
            "How do the sources relate to each other?",
            "queries",
            _TYPES,
            partial(_types, classifier),
        )
        for classifier in get_args(Classifier)
    },
    "behaviour": Labelling(
        "Does the answer behave as expected?",
        "answers",
        {ADHERES: "It does", FAILS: "It does not"},
        _answers,
    ),
    "grounding": Labelling(
        "Do the sources say what the sentence says?",
        "sentences of answers",
        {
            Grounds.SUPPORTED.value: "They do",
            Grounds.UNSUPPORTED.value: "They do not",
            Grounds.CONTRADICTORY.value: "They contradict it",
            Grounds.NO_FACT.value: "It states no fact",
        },
        _sentences,
    ),
}
"""The types from every classifier, and the behaviour and grounding of answers."""
