"""Trains judges of truth and information, and says what they are worth on unseen questions."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from pipelines.conflictscore.truthfulqa.labelled import Kind, LabelledAnswer
from pipelines.conflictscore.truthfulqa.trained import (
    Linear,
    Reader,
    TrainedJudges,
    beside,
    question_digest,
)
from pipelines.data.released import Part, half
from pipelines.errors import InputError
from pipelines.metrics.clustered_auc import clustered_auc
from pipelines.metrics.clustered_f1 import clustered_f1
from pipelines.metrics.mean import mean
from pipelines.report.table import Column, Measure, Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDS = 5
"""Of questions, to choose the strength of the penalty by."""

STRENGTHS = (0.001, 0.01, 0.1)
"""Inverse strengths of the penalty on standardised features."""

LEAST = 1e-6
"""Standard deviation below which a feature does not vary: some dimensions of embeddings do not."""

DECIMALS = 6
"""Of all numbers that are kept."""

AT_ONCE = 512


@dataclass(frozen=True)
class Judged:
    """What a judge, or a baseline, gives to labelled answers of one kind: probabilities of yes."""

    kind: Kind
    judge: str
    answers: Sequence[LabelledAnswer]
    probabilities: Sequence[float]

    @property
    def labels(self) -> list[bool]:
        """What people say."""
        return [each.label for each in self.answers]

    @property
    def said(self) -> list[bool]:
        """What the judge says: yes above one half."""
        return [each > 0.5 for each in self.probabilities]

    @property
    def questions(self) -> list[str]:
        """The question of each answer: answers to one are not independent."""
        return [each.asked.id for each in self.answers]


def train(
    answers: Sequence[LabelledAnswer],
    reader: Reader,
    part: Part = "train",
    on_read: Callable[[int], None] = lambda _: None,
) -> tuple[TrainedJudges, list[Judged]]:
    """A judge of each kind that has labels, and what it gives to answers of the other half.

    Halves are of questions, by their text. With all answers to learn from there are none to
    measure with. The strength of the penalty is chosen within the answers that are learned from.

    Args:
        answers: Labelled by people, of both kinds.
        reader: Of the embedding model.
        part: Which half of the questions to learn from.
        on_read: Told how many more answers were read.

    Raises:
        InputError: A kind has labels, but not both, or of too few questions, to learn from.
    """
    made: dict[Kind, Linear] = {}
    questions: set[str] = set()
    judged: list[Judged] = []
    for kind in get_args(Kind):
        own = [each for each in answers if each.kind == kind]
        if not own:
            continue
        features = _features(own, reader, on_read)
        learned = [part in ("all", half(each.asked.question)) for each in own]
        seen = [each for each, known in zip(own, learned, strict=True) if known]
        unseen = [each for each, known in zip(own, learned, strict=True) if not known]
        _refuse_small(kind, seen)
        questions |= {question_digest(each.asked.question) for each in seen}
        made[kind] = linear = fit(
            features[learned], [each.label for each in seen], [each.asked.id for each in seen]
        )
        if unseen:
            rows = features[[not known for known in learned]]
            found = [linear.probability(row.tolist()) for row in rows]
            judged += [Judged(kind, "trained", unseen, found), *baselines(kind, seen, unseen)]
    if not made:
        raise InputError("there is no labelled answer; name a file of them with --labelled")
    judges = TrainedJudges(
        embedder=reader.embedder.digest, half=part, questions=frozenset(questions), **made
    )
    return judges, judged


def fit(
    features: "NDArray[np.float64]", labels: Sequence[bool], questions: Sequence[str]
) -> Linear:
    """Logistic regression with an L2 penalty on features, (n, f), as they are.

    The penalty is the one with the least log loss on questions that were not fitted on.
    """
    import numpy as np
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import cross_val_predict

    means, scales = features.mean(axis=0), features.std(axis=0)
    dead = scales < LEAST
    scales[dead] = 1.0
    values = np.where(dead, 0.0, (features - means) / scales)
    yes = np.asarray(labels, dtype=bool)
    folds = _folds(questions)
    losses = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for strength in STRENGTHS:
            shares = cross_val_predict(
                LogisticRegression(C=strength),
                values,
                yes,
                cv=folds,
                method="predict_proba",
            )
            losses[strength] = log_loss(yes, shares[:, -1], labels=[False, True])
        best = LogisticRegression(C=min(losses, key=losses.__getitem__)).fit(values, yes)
    weights = np.where(dead, 0.0, best.coef_[0] / scales)
    return Linear(
        weights=tuple(weights.round(DECIMALS).tolist()),
        intercept=round(float(best.intercept_[0] - means @ weights), DECIMALS),
    )


def baselines(
    kind: Kind, seen: Sequence[LabelledAnswer], unseen: Sequence[LabelledAnswer]
) -> list[Judged]:
    """What needs no text: the more frequent label, and the length of the answer in words.

    Both are learned from the same answers as a judge is.
    """
    share = sum(each.label for each in seen) / len(seen)
    always = Judged(kind, "always the same", unseen, [share] * len(unseen))
    lengths = _lengths(seen)
    by_length = fit(lengths, [each.label for each in seen], [each.asked.id for each in seen])
    found = [by_length.probability(row.tolist()) for row in _lengths(unseen)]
    return [always, Judged(kind, "length", unseen, found)]


def _lengths(answers: Sequence[LabelledAnswer]) -> "NDArray[np.float64]":
    import numpy as np

    return np.array([[float(len(each.answer.split()))] for each in answers])


def judges_table(judged: Sequence[Judged], data: str) -> Table:
    """Trained judges beside the baselines, on questions that they did not see."""
    return Table.of(
        judged,
        name="truth_judges_trained",
        title="Trained judges",
        caption=f"Answers of {data} to questions of the half that was not learned from.",
        columns=[
            Column("kind", "Judged", lambda own: own.kind),
            Column("judge", "Judge", lambda own: own.judge),
            Column("answers", "Answers", lambda own: len(own.answers)),
            Column("questions", "Questions", lambda own: len(set(own.questions))),
            Measure(
                "accuracy",
                "Accuracy",
                lambda own: mean(
                    [float(x == y) for x, y in zip(own.labels, own.said, strict=True)],
                    own.questions,
                    bounds=(0, 1),
                ),
            ),
            Measure(
                "f1", "F1 of yes", lambda own: clustered_f1(own.labels, own.said, own.questions)
            ),
            Measure(
                "auc",
                "AUC",
                lambda own: clustered_auc(own.probabilities, own.labels, own.questions),
            ),
        ],
        notes=("Intervals (95 %) are clustered by question.",),
    )


def _features(
    answers: Sequence[LabelledAnswer], reader: Reader, on_read: Callable[[int], None]
) -> "NDArray[np.float64]":
    """The features of all answers, (n, f); texts are embedded many at a time."""
    import numpy as np

    for start in range(0, len(answers), AT_ONCE):
        part = answers[start : start + AT_ONCE]
        reader.remember(
            [
                beside(each.asked.question, text)
                for each in part
                for text in (
                    each.answer,
                    *each.asked.correct_answers,
                    *each.asked.incorrect_answers,
                )
            ]
        )
        on_read(len(part))
    return np.array([reader.features(each.asked, each.answer) for each in answers])


def _folds(questions: Sequence[str]) -> list[tuple["NDArray[np.intp]", "NDArray[np.intp]"]]:
    """Places of answers to fit on, and of those to other questions, which are held out."""
    from sklearn.model_selection import GroupKFold

    splitter = GroupKFold(min(FOLDS, len(set(questions))))
    return list(splitter.split(questions, groups=questions))


def _refuse_small(kind: Kind, seen: Sequence[LabelledAnswer]) -> None:
    labels, questions = [each.label for each in seen], [each.asked.id for each in seen]
    # Of either label some must be left where the answers to some questions are held out.
    if len(set(questions)) < FOLDS or any(
        len({labels[place] for place in fitted}) < 2 for fitted, _ in _folds(questions)
    ):
        raise InputError(
            f"{len(seen)} labels say whether answers are {kind}; yes and no are needed, both to "
            f"several questions, of at least {FOLDS} questions"
        )
