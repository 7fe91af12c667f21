"""Planted conflicts: each rule by hand, and what holds of every change and pair."""

import random
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.conflictscore.planted.change import Change, Edit, Kind, Sentence, checkable, edited
from pipelines.conflictscore.planted.facts import RULES, changes, material, namesake_of
from pipelines.conflictscore.planted.planting import BY_RULE, KINDS, Pair, pairs
from pipelines.conflictscore.planted.rewriting import says
from pipelines.data.records import Document
from pipelines.evidence.judgement import Relation
from pipelines.text.substitution import has_words

MILL = Document(
    id="mill",
    text="The mill at Aldham ground 2,400 sacks of flour in a good year. It was built by Hugh "
    "Perrin in 1785 of local stone. The mill wheel was repaired after the flood of March 1801. "
    "The museum in Corbridge has 14 halls, and a ticket for adults costs 9 euros.",
)
HARBOUR = Document(
    id="harbour",
    text="A captain sailed from the harbour in Whitby with 31 men. The Northern Star was "
    "launched in 1822 and lost in 1839. No storm was recorded that week.",
    title="A lost ship",
)
SCHOOL = Document(
    id="school",
    text="The teachers in Whitby should have smaller classes, the council argues. "
    "A survey of 1996 did not find any difference between the schools.",
)
EVERY = [MILL, HARBOUR, SCHOOL]


def found(kind: Kind, document: Document, seed: int = 0) -> list[Change]:
    return list(changes(kind, document, material(EVERY), Random(seed)))


def olds(kind: Kind, document: Document) -> set[str]:
    return {change.old for seed in range(12) for change in found(kind, document, seed)}


def test_sentences_that_state_something_by_themselves() -> None:
    document = Document(
        id="d",
        text="The mill was built in the year 1785. It was sold to a baker in 1801. Is the mill "
        "still there for visitors today? We walked to the mill on the hill on Sunday. Mill. "
        "Later, in that year, they moved the wheel. the wheel of the mill was moved again.",
    )
    assert [each.text for each in checkable(document)] == ["The mill was built in the year 1785."]


def test_numbers_are_no_years_days_ranges_or_parts_of_names() -> None:
    assert olds("numbers", MILL) == {"2,400", "14", "9"}
    document = Document(
        id="d",
        text="On 11 October 1965 the ward with COVID-19 patients had between 8–12 beds and lost "
        "the match by 3-0 on that day.",
    )
    assert olds("numbers", document) == set()


def test_a_share_stays_a_share() -> None:
    document = Document(id="d", text="The turnout in the town was 80 per cent of all voters.")
    made = [change.new for seed in range(40) for change in found("numbers", document, seed)]
    assert made
    assert all(0 < float(new) <= 100 for new in made)


def test_an_article_fits_the_number_after_it() -> None:
    document = Document(id="d", text="The dose led to an 8 per cent higher risk of a fracture.")
    made = {change.new for seed in range(60) for change in found("numbers", document, seed)}
    assert all(new.startswith("8") or new in {"11", "18"} for new in made)


def test_dates_are_years_and_months_and_lie_not_in_the_future() -> None:
    assert olds("dates", MILL) == {"1801", "March"}, "the sentence with 1785 points back"
    years = {
        int(change.new)
        for seed in range(60)
        for change in found("dates", HARBOUR, seed)
        if change.new.isdigit()
    }
    assert years
    assert max(years) <= 1996


def test_names_are_exchanged_for_those_after_the_same_word() -> None:
    (change,) = found("names", MILL)
    assert (change.old, change.new) == ("Corbridge", "Whitby")
    assert "The museum in Whitby has 14 halls" in change.copy().text
    (other,) = [each for each in found("names", SCHOOL) if each.old == "Whitby"]
    assert other.new == "Corbridge"


def test_a_name_that_is_said_elsewhere_in_the_document_stays() -> None:
    document = Document(id="d", text="The ferry from the island lands in Whitby. Whitby is small.")
    assert olds("names", document) == set()
    titled = Document(
        id="d", text="The ferry from the island lands in Whitby.", title="To Whitby by sea"
    )
    assert olds("names", titled) == set()


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("The mill was built in the year 1785.", "was built", "was not built"),
        ("A survey of 1996 did not find any difference.", "did not find", "did find"),
        ("The council has bought the old mill.", "has bought", "has not bought"),
        ("Visitors can climb to the top of the mill.", "can climb", "can not climb"),
    ],
)
def test_negation_is_put_in_or_taken_out(text: str, old: str, new: str) -> None:
    (change,) = found("negation", Document(id="d", text=text))
    assert (change.old, change.new) == (old, new)
    assert change.changed == text.replace(old, new)


@pytest.mark.parametrize(
    "text",
    [
        "The mill has 14 halls for visitors.",  # the verb is no auxiliary
        "The man who was hurt sold the mill.",  # that verb is not the sentence's
        "No storm was recorded in that week.",  # it is negative already
        "The mill also stands in the way of a road.",
        "The mill is only open on Sunday mornings.",  # "not only" denies nothing
    ],
)
def test_negation_passes_over_what_it_would_change_badly(text: str) -> None:
    assert found("negation", Document(id="d", text=text)) == []


def test_an_outdated_edition_has_another_number_as_of_an_earlier_year() -> None:
    (change,) = found("outdated", MILL)
    year = int(change.date or "")
    assert 1785 <= year < 1801
    assert change.old in {"14", "9"}
    assert change.changed.startswith(f"As of {year}, the museum in Corbridge has")
    assert change.copy().date == str(year)
    assert MILL.date is None
    undated = Document(id="d", text="The museum in Corbridge has 14 halls and a cellar.")
    assert found("outdated", undated) == [], "no year to be earlier than"
    dated = undated.model_copy(update={"date": "May 2020"})
    (other,) = found("outdated", dated)
    assert other.changed.startswith("As of 20")
    assert other.changed.endswith(" halls and a cellar.")
    assert ", the museum in Corbridge has " in other.changed


def test_a_namesake_says_that_it_is_another_and_is_no_conflict() -> None:
    (pair,) = [each for each in pairs(EVERY, ["namesakes"]) if each.original is HARBOUR]
    assert namesake_of(pair.change.sentence) == "Northern Star"
    conflict, none = pair.examples(checked=True, seed=0)
    assert conflict.conflict
    assert not none.conflict
    assert none.plant is not None
    assert (none.plant.control, none.plant.type) == ("namesake", "complementary")
    (own,) = [each.text for each in none.documents if each.text != HARBOUR.text]
    assert own.startswith("This is about another Northern Star,")
    assert own.endswith(pair.copy.text), "nothing but the note parts it from the conflict"


def test_opinions_wait_for_a_model() -> None:
    (pair,) = pairs(EVERY, ["opinions"])
    assert pair.claim.startswith("The teachers in Whitby should")
    assert pair.copy.text == SCHOOL.text
    written = pair.rewritten("The teachers in Whitby should have larger classes, a parent says.")
    conflict, none = written.examples(checked=True, seed=0)
    assert conflict.plant is not None
    assert (conflict.plant.type, conflict.plant.by) == ("opinions", "model")
    assert conflict.plant.new.startswith("The teachers in Whitby should have larger")
    assert not none.conflict


# Pairs


def test_a_pair_is_a_conflict_and_an_example_without() -> None:
    made = pairs(EVERY, BY_RULE)
    assert {each.kind for each in made} == set(BY_RULE)
    for pair in made:
        conflict, none = pair.examples(checked=False, seed=3)
        texts = {each.text for each in conflict.documents}
        assert texts == {pair.original.text, pair.copy.text}
        assert set(conflict.relations or ()) == {Relation.SUPPORTS, Relation.CONTRADICTS}
        assert Relation.CONTRADICTS not in (none.relations or ())
        assert conflict.claim == none.claim
        assert conflict.claim in pair.original.text
        assert conflict.group == none.group
        assert pair.control.document.text != pair.original.text
        assert {each.id for each in conflict.documents} == {"d1", "d2"}, "ids tell nothing"


def test_a_question_asks_for_the_value_and_does_not_tell_it() -> None:
    made = {each.kind: each for each in pairs([MILL, HARBOUR], BY_RULE)}
    numbers, outdated, negation = (made[kind] for kind in ("numbers", "outdated", "negation"))
    for pair in (numbers, outdated):
        assert pair.question.startswith('What belongs in place of the dots? "')
        assert not has_words(pair.question, pair.change.old)
        assert pair.question.replace("...", pair.change.old).endswith(f'"{pair.claim}"')
    assert negation.question == f'Is this so? "{negation.claim}"'


def test_an_untouched_copy_says_what_the_claim_says() -> None:
    alone = pairs([MILL], BY_RULE)
    assert alone, "one document is enough, with two facts"
    for pair in (each for each in alone if each.kind != "namesakes"):
        assert pair.control.name == "untouched"
        assert pair.change.sentence.text in pair.control.document.text
        assert pair.control.relation is Relation.SUPPORTS


def test_an_unrelated_passage_is_of_another_document_and_cannot_speak_of_the_claim() -> None:
    guide = Document(id="guide", text="The bridge was opened by the mayor in 1932.")
    study = Document(id="study", text="Traffic first crossed the bridge in May 1936.")
    leaflet = Document(id="leaflet", text="The toll on the bridge is two pounds.")
    every = [guide, study, leaflet]
    for seed in range(8):
        (pair,) = [each for each in pairs(every, ["dates"], seed=seed) if each.original == guide]
        assert pair.control.document == leaflet, "a real conflict is no control"
    assert pairs([guide, study], ["dates"]) == []


def test_without_a_fact_there_is_no_plant() -> None:
    quiet = Document(id="quiet", text="Rivers run. Such a fine day! Shall we go for a walk today?")
    assert pairs([quiet, quiet.model_copy(update={"id": "again"})], BY_RULE) == []


def test_fewer_are_a_part_of_more_and_kinds_take_turns() -> None:
    every = pairs(EVERY, BY_RULE)
    ids = [each.id for each in every]
    for limit in range(1, len(every) + 2):
        taken = [each.id for each in pairs(EVERY, BY_RULE, limit=limit)]
        assert len(taken) == min(limit, len(every))
        assert [each for each in ids if each in taken] == taken
        if limit > 1:
            assert {each.id for each in pairs(EVERY, BY_RULE, limit=limit - 1)} < set(taken) or (
                limit > len(every)
            )
    kinds = {each.kind for each in pairs(EVERY, BY_RULE, limit=len(BY_RULE))}
    assert kinds == set(BY_RULE)


# What holds of every change

WORDS = [
    *("The", "mill", "was", "built", "in", "Whitby", "Corbridge", "1785", "March", "of", "has"),
    *("14", "2,400", "halls", "not", "by", "Hugh", "Perrin", "and", "It", "is", "per", "cent"),
    *("Northern", "Star", "3.5", "opened", "should", ",", "“", "-", "COVID-19", "the", "an", "8"),
]
FIRST = [
    "The mill",
    "The mill has",
    "The Northern Star has",
    "A ferry sails from a port in Whitby,",
]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    rng = random.Random(draw(st.integers(0, 10**6)))
    made = [
        " ".join([rng.choice(FIRST), *rng.choices(WORDS, k=rng.randint(5, 14))]) + "."
        for _ in range(rng.randint(1, 5))
    ]
    return Document(id="d", text=rng.choice((" ", "\n\n")).join(made))


@given(documents(), st.sampled_from(KINDS), st.integers(0, 1000))
def test_a_copy_differs_in_the_planted_span_alone(
    document: Document, kind: Kind, seed: int
) -> None:
    known = material([document, *EVERY])
    for change in changes(kind, document, known, Random(seed)):
        sentence, copy = change.sentence, change.copy()
        text = document.text
        assert all(
            sentence.start <= each.start <= each.end <= sentence.end for each in change.edits
        )
        assert copy.text.startswith(text[: change.edits[0].start])
        assert copy.text.endswith(text[change.edits[-1].end :])
        back = copy.text
        for each in reversed(change.edits):  # from behind, so that places stay
            grown = sum(len(e.new) - (e.end - e.start) for e in change.edits if e.end <= each.start)
            place = each.start + grown
            assert back[place : place + len(each.new)] == each.new
            back = back[:place] + text[each.start : each.end] + back[place + len(each.new) :]
        assert back == text
        if kind != "opinions":
            assert has_words(document.text, change.old)
            assert not has_words(copy.as_read(), change.old), "the old value is gone"
            assert has_words(copy.text, change.new)
            assert change.changed in copy.text


@given(documents(), st.integers(0, 1000))
def test_equal_seeds_make_equal_pairs(document: Document, seed: int) -> None:
    every = [document, *EVERY]
    once, again = (pairs(every, BY_RULE, seed=seed) for _ in range(2))
    assert [each.examples(checked=True, seed=seed) for each in once] == [
        each.examples(checked=True, seed=seed) for each in again
    ]


@given(st.text(max_size=30), st.data())
def test_edits_are_made_in_their_places(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4)))
    edits = [Edit(places[0], places[1], "A"), Edit(places[2], places[3], "BC")]
    assert edited(text, edits) == (
        f"{text[: places[0]]}A{text[places[1] : places[2]]}BC{text[places[3] :]}"
    )


# What a model may write

SENTENCE = "The mill at Aldham ground 2,400 sacks of flour in a good year."


def changed(kind: Kind, old: str, new: str, text: str = SENTENCE) -> Change:
    start = text.index(old)
    sentence = Sentence(Document(id="d", text=text), 0, len(text))
    return Change(kind, sentence, (Edit(start, start + len(old), new),), old, new)


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("In a good year the mill at Aldham ground 3,120 sacks of flour.", True),
        ("In a good year the mill at Aldham ground 2,400 sacks of flour.", False),
        ("The mill at Aldham ground 3,120, not 2,400, sacks of flour in a good year.", False),
        ("In a good year the mill at Aldham ground many sacks of flour.", False),
        ("The mill at Aldham never ground 3,120 sacks of flour in a good year.", False),
        ("There were 3,120 of them.", False),
        ("", False),
    ],
)
def test_a_rewriting_has_the_new_value_and_not_the_old(written: str, right: bool) -> None:
    assert says(written, changed("numbers", "2,400", "3,120")) is right


def test_a_rewriting_denies_where_the_changed_sentence_does() -> None:
    change = changed(
        "negation", "was built", "was not built", "The mill at Aldham was built in the year 1785."
    )
    assert says("Nobody built the mill at Aldham in the year 1785.", change)
    assert not says("In the year 1785 the mill at Aldham was built.", change)


def test_an_edition_keeps_its_year() -> None:
    (change,) = found("outdated", MILL)
    good = change.changed.replace("the museum in Corbridge has", "the Corbridge museum had")
    assert says(good, change)
    assert not says(good.replace(change.date or "", "then"), change)


def test_a_rewritten_pair_has_the_sentence_in_the_copy_and_the_namesake() -> None:
    (pair,) = [each for each in pairs(EVERY, ["namesakes"]) if each.original is HARBOUR]
    written: Pair = pair.rewritten("They launched the Northern Star in 1830.")
    for text in (written.copy.text, written.control.document.text):
        assert "They launched the Northern Star in 1830. No storm was recorded that week." in text
        assert pair.change.sentence.text not in text
    assert set(RULES) == set(KINDS)
