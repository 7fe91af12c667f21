"""Whether a model used the argument that a tagger calls support, worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipelines.metrics.estimate import Estimate
from pipelines.npov.result import ABLATION, EMBEDDINGS, SUPPORT, NpovResult
from pipelines.npov.use import kept
from pipelines.npov.used import agreement_of_use, correlation, most_used

# Three arguments, two sentences. The tagger: the first supports the first sentence, none the other.
SUPPORTS = np.array([[0.9, 0.3], [0.2, 0.1], [0.1, 0.2]])
RIGHT = np.array([[5.0, 1.0], [1.0, 0.0], [0.0, 2.0]])
WRONG = np.array([[0.0, 1.0], [5.0, 0.0], [1.0, 2.0]])


def test_the_most_used_and_the_correlation_by_hand() -> None:
    assert most_used(RIGHT).tolist() == [[True, False], [False, False], [False, True]]
    assert correlation(SUPPORTS, SUPPORTS**3) == pytest.approx(1)
    assert correlation(SUPPORTS, -SUPPORTS) == pytest.approx(-1)
    assert correlation(SUPPORTS, np.ones((3, 2))) is None


def result(name: str, topic: str, **links: np.ndarray) -> NpovResult:
    called = {"tagger": SUPPORT, "model": ABLATION, "alike": EMBEDDINGS}
    return NpovResult(
        id=f"paraphrased/{name}",
        test_set="paraphrased",
        source=f"paraphrased/{name}",
        hallucination="none",
        coverage="none",
        topic=topic,
        links={called[key]: kept(each) for key, each in links.items()},
    )


def test_the_table_by_hand() -> None:
    tagger = [result(n, n, tagger=SUPPORTS, alike=SUPPORTS) for n in ("a", "b")]
    model = [result("a", "a", model=RIGHT, alike=SUPPORTS), result("b", "b", model=WRONG)]
    made = agreement_of_use({"small": model, "nli": tagger})
    found = {
        row[1]: dict(zip([c.key for c in made.columns], row, strict=True)) for row in made.rows
    }
    assert set(found) == {"ablation (small)", "sentence embeddings"}
    row = found["ablation (small)"]
    assert row["responses"] == 2
    used, chance, kappa = row["used"], row["by_chance"], row["kappa"]
    assert isinstance(used, Estimate) and isinstance(chance, Estimate)
    assert isinstance(kappa, Estimate)
    assert used.value == 1 / 2, "of two sentences with support, one is used"
    assert chance.value == pytest.approx(1 / 3)
    # Of 12 cells both say yes in 1, the model alone in 3, the tagger alone in 1, neither in 7.
    by_chance = (4 * 2 + 8 * 10) / 12**2
    assert kappa.value == pytest.approx((8 / 12 - by_chance) / (1 - by_chance))
    beside = found["sentence embeddings"]["correlation"]
    assert isinstance(beside, Estimate) and beside.value == pytest.approx(1)
    assert not agreement_of_use({"small": model}).rows, "no tagger"


def test_other_sentences_are_not_compared() -> None:
    made = agreement_of_use(
        {
            "small": [result("a", "a", model=RIGHT[:, :1])],
            "nli": [result("a", "a", tagger=SUPPORTS)],
        }
    )
    assert not made.rows


@given(arrays(float, (3, 4), elements=st.floats(0, 1, width=16)))
def test_a_sentence_has_one_most_used_argument(rests: np.ndarray) -> None:
    assert (most_used(rests).sum(axis=0) == 1).all()
    assert rests[most_used(rests)].sum() == pytest.approx(rests.max(axis=0).sum())
