"""The NLI tagger as a detector: does an argument support a sentence, and a sentence an argument?

A sentence was added if no argument supports it, and an argument left out if no sentence does. The
paper has no such detector; SummaC (Laban et al. 2022, section 3.2) takes the maximum over sentences
of a document likewise, for summaries.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nli.labels import LABELS, Label
from nli.pairs import Pair
from nli.tagger import UnfitError
from pipelines.judge.judge import PairError
from pipelines.judge.tagger import Tagging
from pipelines.npov.example import NpovExample, arguments_read, sentences_read, what_is_said
from pipelines.npov.similarity import Use, Values


class Tagged(NamedTuple):
    """p(support), and 1 - p(irrelevant), of each sentence by each argument, and the other way."""

    support: Use
    relevance: Use


class ArgumentTagger:
    """A tagger that compares the arguments of an example with its sentences, each pair once."""

    def __init__(self, tagger: Tagging) -> None:
        self._tagger = tagger
        self._known: dict[Pair, tuple[float, float, float]] = {}

    def __call__(self, example: NpovExample) -> Tagged:
        """What it says of the sentences, without who says them, and of the arguments.

        Raises:
            PairError: A text does not fit the tagger.
        """
        arguments = arguments_read(example)
        said = [what_is_said(each) for each in sentences_read(example)]
        rests = self.probabilities(arguments, said)
        says = self.probabilities(said, arguments).transpose(1, 0, 2)
        support, irrelevant = (LABELS.index(each) for each in (Label.SUPPORT, Label.IRRELEVANT))
        return Tagged(
            Use.of(example, rests[..., support], says[..., support]),
            Use.of(example, 1 - rests[..., irrelevant], 1 - says[..., irrelevant]),
        )

    def probabilities(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Values:
        """(premises, hypotheses, labels), labels in the order of `LABELS`."""
        pairs = [Pair(premise, hypothesis) for premise in premises for hypothesis in hypotheses]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        try:
            tags = self._tagger.tag(new) if new else []
        except UnfitError as error:
            raise PairError(str(error)) from error
        self._known |= {pair: tag.probabilities for pair, tag in zip(new, tags, strict=True)}
        values = np.array([self._known[pair] for pair in pairs])
        return values.reshape(len(premises), len(hypotheses), len(LABELS))
