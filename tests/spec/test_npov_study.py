"""NPOV, sections 2 to 5: the steps of the study, worked by hand."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from tagging import SUPPORT, ScriptedTagger, said_in

from pipelines.data.procon import Topic
from pipelines.errors import InputError
from pipelines.npov import detectors, synthesis
from pipelines.npov.annotation import Reading, annotated_by, chosen_limit, read_by
from pipelines.npov.detect import Found, result
from pipelines.npov.detectors import TRAINING
from pipelines.npov.example import AnnotatedExample, NpovExample
from pipelines.npov.generator import BY_TEMPLATE, lessons
from pipelines.npov.responses import draws
from pipelines.npov.result import ROUGE, Case
from pipelines.npov.sets import cases_of, numbers, read_cases, same_meaning, write_cases
from pipelines.npov.settings import StudyOptions
from pipelines.npov.similarity import ArgumentTagger
from pipelines.npov.study import PAPER, Study
from pipelines.npov.topics import topics_by_split
from pipelines.runs.folder import RunFolder


def topic(name: str, pro: int = 3, con: int = 3) -> Topic:
    return Topic(
        topic=name,
        question=f"Should {name} stay?",
        pro=tuple(f"Pro {letter} is good." for letter in "abcdef"[:pro]),
        con=tuple(f"Con {letter} is bad." for letter in "uvwxyz"[:con]),
    )


def test_step_1_topics_are_divided_as_in_table_4(tmp_path: Path) -> None:
    names = ("Obesity", "Golf", "Abortion", "Gun Control")
    file = tmp_path / "topics.jsonl"
    file.write_text("\n".join(topic(name).model_dump_json() for name in names))
    found = topics_by_split(file)
    assert {split: [each.topic for each in own] for split, own in found.items()} == {
        "train": ["Obesity"],
        "dev": ["Golf"],
        "test": ["Abortion", "Gun Control"],
    }
    file.write_text(topic("Golf").model_dump_json())
    with pytest.raises(InputError, match="has no topic of the train split"):
        topics_by_split(file)


def test_step_2_the_generator_learns_one_to_three_arguments_a_side() -> None:
    """The paper has 80 responses to 9 topics; the template gives 9 per topic, 81."""
    assert (PAPER.steps, PAPER.batch, 9 * BY_TEMPLATE) == (20_000, 16, 81)
    learned = lessons([topic("Obesity")], "response", per_topic=9, seed=0)
    sizes = [len(each.annotated.example.pro) for each in learned]
    assert sizes == [len(each.annotated.example.con) for each in learned]
    assert sizes == [1, 2, 3] * 3
    assert all(each.annotated.error_free for each in learned)


def test_step_3_draws_are_others_and_the_first_three_have_two_temperatures() -> None:
    """2 + 2 arguments allow 4 draws with one per side and 1 with two: 5 of the 18 wanted."""
    found = draws([topic("Golf", pro=2, con=2)], 18, seed=0)
    given = [(each.given.pro, each.given.con) for each in found]
    as_sets = [(frozenset(pro), frozenset(con)) for pro, con in given]
    assert len(set(as_sets)) == 5
    assert [each.temperature for each in found] == [0.0, 0.7] * 3 + [0.7] * 2
    assert [len(pro) for pro, _ in given] == [1, 1, 2, 2, 1, 1, 1, 1]
    golf = topic("Golf", pro=4, con=4)
    whole = draws([golf], 18, seed=0)
    assert len(whole) == 3 * 2 + 15
    assert [len(each.given.pro) for each in whole if each.temperature][:6] == [1, 2, 3, 1, 2, 3]
    assert whole == draws([golf], 18, seed=0)


EXAMPLE = NpovExample(
    question="Should Golf stay?",
    topic="Golf",
    pro=("Pro a is good.", "Pro b is good."),
    con=("Con u is bad.",),
    response="Supporters say that pro a is good. Critics say that con u is bad. Con z is dear.",
)
NO, YES = 0.1, 0.9


def read(says: list[list[float]], rests: list[list[float]]) -> Reading:
    """Rows: three sentences and the whole response. Columns: three arguments and all of them."""
    start = [EXAMPLE.response.index(text) for text in ("pro a", "con u", "Con z")]
    spans = tuple(zip(start, [34, 65, 80], strict=True))
    told_by = ("pro", "con", "con")
    return Reading(np.array(says), np.array(rests), cast(Any, spans), cast(Any, told_by))


def test_step_4_what_is_supported_one_way_alone_is_ambiguous() -> None:
    """Pro a and con u are said. Sentence 3 has no argument, and pro b is not said."""
    says = [[YES, NO, NO, YES], [NO, NO, NO, NO], [NO, YES, NO, YES]]
    rests = [[YES, NO, NO], [NO, NO, NO], [NO, YES, NO], [YES, YES, NO]]
    found = annotated_by("golf/0", EXAMPLE, read(says, rests), 0.5)
    assert (found.coverage, found.hallucination) == ("full", "full")
    assert [(part.side, part.argument) for part in found.uncovered or ()] == [("pro", 1)]
    said = [EXAMPLE.response[slice(*span)] for span in found.hallucinated or ()]
    assert said == ["Con z is dear."]
    assert found.said is not None
    spans = [span for side in ("pro", "con") for span in found.said[cast(Any, side)]]
    texts = [span and EXAMPLE.response[slice(*span)] for span in spans]
    assert texts == ["pro a is good.", None, "con u is bad."]

    rests[1][2] = YES  # sentence 3 follows from pro b, without saying all of it
    rests[3][2] = YES
    found = annotated_by("golf/0", EXAMPLE, read(says, rests), 0.5)
    assert (found.coverage, found.hallucination) == ("ambiguous", "none")
    says[1] = [NO, NO, YES, YES]  # now it says pro b, but as critics: sides are confused
    found = annotated_by("golf/0", EXAMPLE, read(says, rests), 0.5)
    assert (found.coverage, found.hallucination) == ("ambiguous", "ambiguous")
    says[1], says[2] = [NO, NO, NO, YES], [NO, YES, YES, YES]  # con u is said twice
    found = annotated_by("golf/0", EXAMPLE, read(says, rests), 0.5)
    assert (found.coverage, found.hallucination) == ("none", "ambiguous")


def test_step_4_the_threshold_is_chosen_by_known_errors() -> None:
    """Support is 0.9 if a text says it, else 0.2: every threshold between finds every error."""
    tagger = ArgumentTagger(ScriptedTagger(weigh=said_in, shows=False))
    known = synthesis.synthetic_examples([topic("Golf"), topic("Zoos")], per_topic=2, seed=0)
    found = chosen_limit(tagger, known)
    assert 0.2 < found.limit <= 0.9
    assert {kind: share and share.value for kind, share in found.shares.items()} == {
        "hallucination": 1.0,
        "coverage": 1.0,
    }
    right = known[0]
    again = annotated_by("x", right.example, read_by(tagger, right.example), found.limit)
    assert again.error_free
    assert again.said is not None
    assert right.said is not None
    assert {side: [*spans] for side, spans in again.said.items()} == {
        # The template's span has no full stop; a sentence's span has one.
        side: [span and (span[0], span[1] + 1) for span in spans]
        for side, spans in right.said.items()
    }


def test_step_5_a_paraphrase_keeps_numbers_and_is_supported_both_ways() -> None:
    assert numbers("Two of 1,200 towns in 1.5 years") == {"2", "1200", "1.5"}
    tagger = ArgumentTagger(ScriptedTagger(weigh=said_in, shows=False))
    assert not same_meaning(tagger, "It is dear.", "It is dear", 0.5), "the same words"
    assert not same_meaning(tagger, "It costs 3.", "It costs 4.", 0.1), "another number"
    assert not same_meaning(tagger, "It is dear.", "It is dear to us.", 0.5), "one way alone"
    both = ArgumentTagger(ScriptedTagger(weigh=lambda _: SUPPORT, shows=False))
    assert same_meaning(both, "Two are dear.", "2 cost much.", 0.5)


def study(folder: Path, *names: str) -> Study:
    """A study whose topics are all in the test set; no model is loaded."""
    topics = {"train": [], "dev": [], "test": [topic(name) for name in names]}
    none = cast(Any, None)
    return Study(StudyOptions(), RunFolder(folder), PAPER, cast(Any, topics), none, none)


def test_step_5_test_sets_have_every_kind_of_error(tmp_path: Path) -> None:
    """Two topics, each with an error-free response to 2 + 2 arguments and one with an error."""
    made = study(tmp_path, "Abortion", "Vegetarianism")
    for name in ("annotated", "reworded"):
        made.file(name).write_text("")
    found: list[AnnotatedExample] = []
    for each in made.topics["test"]:
        one = synthesis.synthetic_examples([each], per_topic=2, seed=0)
        right = [example for example in one if example.error_free][1]
        wrong = right.model_copy(
            update={"id": f"{each.topic}/9", "source": f"{each.topic}/9", "coverage": "ambiguous"}
        )
        found += [right, wrong]

    def reword(argument: str) -> str:
        return argument.replace("is good", "does good").replace("is bad", "does harm")

    cases = cases_of(made, found, reword)
    by_set: dict[str, list[str]] = {}
    for case in cases:
        by_set.setdefault(case.test_set, []).append(case.annotated.id)
    assert by_set["organic"] == ["Abortion/1", "Abortion/9", "Vegetarianism/1", "Vegetarianism/9"]
    family = ["", "+left-out", "+added", "+both"]
    wanted = [f"{name}/1{kind}" for name in ("Abortion", "Vegetarianism") for kind in family]
    assert by_set["unparaphrased"] == by_set["paraphrased"] == wanted
    for case in cases:
        example = case.annotated.example
        harm = "does harm" in " ".join(example.con)
        assert harm is (case.test_set == "paraphrased"), "arguments are reworded"
        assert "is bad" in example.response, "responses are not"
    left_out = next(case for case in cases if case.id == "paraphrased/Abortion/1+left-out")
    (part,) = left_out.annotated.uncovered or ()
    argument = left_out.annotated.example.arguments(part.side)[part.argument]
    assert argument[slice(*part.span)] == argument
    assert argument not in found[0].example.arguments(part.side)
    added = next(case for case in cases if case.id == "unparaphrased/Abortion/1+added")
    ((start, end),) = added.annotated.hallucinated or ()
    gone = {*found[0].example.pro, *found[0].example.con}
    gone -= {*added.annotated.example.pro, *added.annotated.example.con}
    assert gone == {f"{added.annotated.example.response[start:end].capitalize()}."}
    assert read_cases(made.file("cases")) == cases


def test_step_5_a_side_may_lose_its_only_argument(tmp_path: Path) -> None:
    """Section 4.2 removes any of the given arguments; a side left empty is accepted."""
    (right, *wrong) = synthesis.synthetic_examples([topic("Abortion")], per_topic=1, seed=0)
    assert (len(right.example.pro), len(right.example.con)) == (1, 1)
    added = next(each for each in wrong if each.id.endswith("+added"))
    assert sorted(map(len, (added.example.pro, added.example.con))) == [0, 1]
    write_cases(tmp_path / "cases.jsonl", [Case("unparaphrased", added)])
    (case,) = read_cases(tmp_path / "cases.jsonl")
    found = result(case, Found({}))
    assert found.score(ROUGE, "coverage") == 0, "the side that is left is covered"
    assert (found.score(ROUGE, "hallucination") or 0) > 0
    alone = {"pro" if added.example.pro else "con"}
    assert {each for each in ("pro", "con") if added.example.arguments(cast(Any, each))} == alone


def test_step_6_classifiers_learn_what_table_2_adds() -> None:
    assert [each.name for each in TRAINING] == ["annotation-free", "synth", "para", "dev", "org"]
    added = [[*each[1:]].count(True) for each in TRAINING]
    assert added == [0, 1, 2, 3, 4], "each has one thing more"


def test_step_6_the_annotation_free_classifier_learns_what_the_generator_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Appendix B.1: no annotation is needed, whether people or a template wrote the responses."""
    given = {"pro": ["Pro a is good."], "con": ["Con u is bad."], "response": "Both are said."}
    lines = [
        {"id": f"{name}/1", "question": f"Should {name} stay?", **given}
        for name in ("Obesity", "Golf")
    ]
    people = tmp_path / "people.jsonl"
    people.write_text("\n".join(map(json.dumps, lines)))
    learned: dict[str, list[Any]] = {}

    def tuned(_: Study, name: str, __: str, some: list[Any], ___: list[Any], **____: Any) -> None:
        learned[name] = some

    monkeypatch.setattr(detectors, "tuned", tuned)
    none, model = cast(Any, None), cast(Any, SimpleNamespace(load=list))
    topics = cast(Any, {"train": [topic("Obesity")], "dev": [topic("Golf")], "test": []})
    for responses in (None, people):
        options = StudyOptions(responses=responses)
        made = Study(options, RunFolder(tmp_path), PAPER, topics, model, none)
        assert [*detectors.tuned_classifiers(made, [], none)] == ["annotation-free"]
        some = learned["coverage-annotation-free"]
        right = {each.annotated.example.response for each in some if each.annotated.error_free}
        assert (right == {"Both are said."}) == (responses is people)
        assert any(each.origin == "synthetic errors" for each in some), "errors are put in"
