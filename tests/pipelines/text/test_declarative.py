"""Questions and answers put as statements."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.data import ramdocs
from pipelines.data.conflictqa import read as read_conflictqa
from pipelines.text.declarative import declarative

FORMS = [
    ("When was the Dallas County Courthouse built?", "1902",
     "The Dallas County Courthouse was built in 1902."),
    ("When was Beacon Mill last worked?", "1921", "Beacon Mill was last worked in 1921."),
    ("When did Louis Alexandre die?", "1 December 1737",
     "Louis Alexandre died on 1 December 1737."),
    ("When did the Freaky Friday musical begin its performances?", "October 4, 2016",
     "The Freaky Friday musical began its performances on October 4, 2016."),
    ("When was the Coastal Highway expanded to four lanes?", "the 1960s",
     "The Coastal Highway was expanded to four lanes in the 1960s."),
    ("What year was the album \"Chayanne\" released?", "1987",
     "The album \"Chayanne\" was released in 1987."),
    ("24th Rifle Division was formed in which year?", "July 26, 1918",
     "24th Rifle Division was formed on July 26, 1918."),
    ("What sport is Justin Thomas associated with?", "Golf",
     "Justin Thomas is associated with the sport Golf."),
    ("What sport did Jack Snow play?", "Football", "Jack Snow played the sport Football."),
    ("What position did Richard Wood play in American football?", "Quarterback",
     "Richard Wood played the position Quarterback in American football."),
    ("What political party does Marcoux belong to?", "Liberal",
     "Marcoux belongs to the political party Liberal."),
    ("Who won the 5th Soccer Bowl?", "Philadelphia Atoms",
     "Philadelphia Atoms won the 5th Soccer Bowl."),
    ("Who is the artist of the album \"VII\"?", "Blitzen Trapper",
     "The artist of the album \"VII\" is Blitzen Trapper."),
    ("When did the show come out?", "2010", "The show came out in 2010."),
    ("In which city did Conry practice law?", "Boston", "Conry practiced law in Boston."),
    ("In which state is Van Horn High School located?", "Texas",
     "Van Horn High School is located in Texas."),
    ("Which line is Belorussky a station on?", "Ring line",
     "Belorussky is a station on Ring line."),
    ("20000 series is operated by which private railway operator?", "JR East",
     "20000 series is operated by JR East."),
    ("What does RSJ refer to?", "Robert Jones", "RSJ refers to Robert Jones."),
    ("What date was Ada Ng born?", "August 21st 1968", "Ada Ng was born on August 21st 1968."),
    ("How many people live in Paris?", "2 million", "2 million people live in Paris."),
    ("How many trophies does the club have?", "0", "The club has 0 trophies."),
    ("how many seasons of it are there", "four", "There are four seasons of it."),
    ("How many ports were there in 1900?", "3 ports", "There were 3 ports in 1900."),
    ("How many league trophies does the club have?", "0", "The club has 0 league trophies."),
    ("How long is the Nile?", "6,650 km", "The Nile is 6,650 km long."),
    ("Is infinite scrolling a good web design technique?", "yes",
     "Infinite scrolling is a good web design technique."),
    ("Is infinite scrolling a good web design technique?", "no",
     "Infinite scrolling is not a good web design technique."),
    ("Can cats truly understand human emotions?", "Yes",
     "Cats can truly understand human emotions."),
    ("Can cats truly understand human emotions?", "no",
     "Cats cannot truly understand human emotions."),
    ("Does aspartame cause cancer?", "yes", "Aspartame causes cancer."),
    ("Does aspartame cause cancer?", "no", "Aspartame does not cause cancer."),
    ("Would a ban help?", "no", "A ban would not help."),
    ("Does the land in close contact suffer?", "yes", "The land in close contact suffers."),
    ("Is a broken clock a clock?", "yes", "A broken clock is a clock."),
    ("Why is the sky blue?", "scattering", 'The answer to "Why is the sky blue?" is scattering.'),
    ("Who is the head of the U.S.?", "Jones Jr.", "The head of the U.S. is Jones Jr."),
]  # fmt: skip


UNSURE = [
    ("Where does the last name Keith come from?", "Scotland"),  # "the last named Keith"
    ("When did season 5 of prison break come out?", "April 4, 2017"),
    ("Where does most of the oxygen come from today?", "plants"),
    ("When does the feast start?", "begins at sundown on 12 April"),
    ("How many diners in the United States?", "Over 660"),
    ("How many times the club reached the final?", "10"),
    ("How many did he win?", "3"),
    ("When was the last time Leeds won the league?", "1992"),
    ("How many firms have, at any point, been worth a trillion?", "3 firms."),
]


@pytest.mark.parametrize(("question", "answer"), UNSURE)
def test_what_no_rule_is_sure_of_is_quoted(question: str, answer: str) -> None:
    end = "" if answer.endswith(".") else "."
    assert declarative(question, answer) == f'The answer to "{question}" is {answer}{end}'


@pytest.mark.parametrize(("question", "answer", "statement"), FORMS)
def test_forms(question: str, answer: str, statement: str) -> None:
    assert declarative(question, answer) == statement


@pytest.mark.parametrize(
    "question",
    [
        "Are there drugs which cure cancer?",
        "Did Napoleon not lose at Waterloo?",
        "Didn't Napoleon lose at Waterloo?",
        "Has nobody's claim never been proved?",
        "Is no news good news?",
        "Who is the villain?",
    ],
)
@pytest.mark.parametrize("answer", ["yes", "No."])
def test_what_cannot_be_affirmed_or_denied_is_quoted(question: str, answer: str) -> None:
    made = declarative(question, answer)
    assert made.rstrip(".") == f'The answer to "{question}" is {answer.rstrip(".")}'


words = st.text(min_size=1).filter(str.strip)


@given(words, words)
def test_the_answer_always_stands_in_the_claim(question: str, answer: str) -> None:
    if answer.strip().lower().rstrip(".!") not in {"yes", "no", "true", "false"}:
        assert answer.strip() in declarative(question, answer)


def test_every_question_of_ramdocs_has_a_form(released_data: Path) -> None:
    questions = ramdocs.read(released_data / "ramdocs/RAMDocs_250.jsonl")
    made = [
        (answer, declarative(each.question, answer))
        for each in questions
        for answer in each.gold_answers
    ]
    assert all(answer.strip() in claim for answer, claim in made)
    assert not any(claim.startswith("The answer to") for _, claim in made)


def test_denials_differ_from_affirmations(released_data: Path) -> None:
    questions = read_conflictqa(released_data / "conflictqa/strategyqa_gpt4.jsonl.gz")
    pairs = [[declarative(each.question, side) for side in ("yes", "no")] for each in questions]
    assert all(yes != no for yes, no in pairs)
    covered = [yes for yes, _ in pairs if not yes.startswith("The answer to")]
    assert len(covered) > 0.6 * len(pairs)
