"""Released records as questions with documents and relations, one function per source.

ConflictScore, appendix A, for AmbigDocs, ContraQA, MacNoise and ConflictingQA. RAMDocs, ConflictQA,
CLIMATE-FEVER and WikiContradict are not in the paper; they are built in its manner.
"""

import re
from collections.abc import Iterable, Sequence

from pipelines.conflictscore.detection.questions import Passage, Question
from pipelines.conflictscore.detection.stances import contradicts, supports
from pipelines.data.ambigdocs import AmbiguousQuestion
from pipelines.data.climate_fever import ClimateClaim
from pipelines.data.conflictingqa import ContentiousQuestion
from pipelines.data.conflictqa import KnowledgeConflict, without_note
from pipelines.data.contraqa import ContraQuestion
from pipelines.data.macnoise import NoisyQuestion, passage
from pipelines.data.ramdocs import UNKNOWN, RamQuestion
from pipelines.data.wikicontradict import Side
from pipelines.evidence.judgement import Relation
from pipelines.supervision.questions import evidence
from salience.words import word_pattern

SUPPORTS, CONTRADICTS, IRRELEVANT = (
    Relation.SUPPORTS, Relation.CONTRADICTS, Relation.IRRELEVANT,
)  # fmt: skip
_CLIMATE = {"SUPPORTS": SUPPORTS, "REFUTES": CONTRADICTS, "NOT_ENOUGH_INFO": IRRELEVANT}


def ambigdocs(record: AmbiguousQuestion) -> Question:
    """AmbigDocs: the claim gives the first document's answer; other answers contradict it."""
    answer = record.documents[0].answer
    passages = [
        Passage(document.text, _side(agree(document.answer, answer)), document.title)
        for document in record.documents
    ]
    return Question(record.question, tuple(passages), (record.question, answer))


def contraqa(record: ContraQuestion) -> Question:
    """ContraQA: the claim gives SQuAD's answer; the true paragraph supports, the false contradicts.

    A false paragraph was made for one of several questions on its true paragraph: it need not
    contradict the answer to the others (`stances.contradicts`).
    """
    title, asked, answers = record.title or None, record.question, record.answers
    passages = [Passage(record.context, SUPPORTS, title)]
    passages += [
        Passage(
            fake,
            CONTRADICTS,
            title,
            borne_out=contradicts(fake, record.context, asked, answers),
        )
        for fake in record.fakes
    ]
    return Question(asked, tuple(passages), (asked, answers[0]))


def macnoise(record: NoisyQuestion) -> Question | None:
    """MacNoise: passages with the true answer support, their rewritings contradict.

    Passages that were not rewritten do not give the answer; what they say of the claim is unknown,
    so they are left out. A passage may have the answer's words and say something else; a rewriting
    may avoid the point, or still say it. `stances` says which are borne out.
    """
    passages = []
    asked, answers = record.question, record.answers
    for context in record.rewritten:
        title, original = passage(context.text)
        title = title or context.title or None
        own = supports(original, asked, answers, title or "")
        passages.append(Passage(original, SUPPORTS, title, borne_out=own))
        own_title, text = passage(context.text_pert)
        if text.strip():
            # What is exchanged in an original that is off the point is off it, too.
            against = contradicts(text, original if own else "", asked, answers)
            passages.append(Passage(text, CONTRADICTS, own_title or title, borne_out=against))
    return Question(asked, tuple(passages), (asked, answers[0])) if passages else None


def conflictingqa(record: ContentiousQuestion) -> Question:
    """ConflictingQA: the claim affirms the question; pages with "yes" support it."""
    passages = [
        Passage(
            page.text_window,
            _side(page.stance == "yes"),
            (page.title or "").strip() or None,
            page.url,
        )
        for page in record.pages
    ]
    return Question(record.question, tuple(passages), (record.question, "yes"))


def ramdocs(record: RamQuestion) -> Question | None:
    """RAMDocs: the claim gives the first gold answer that a document has.

    Documents with that answer support it; those with another answer contradict it, whether the
    answer is right for another entity of the name or is misinformation; noise is irrelevant.
    Answers of which one has all words of the other ("Football", "American football") agree. A
    question without a document for any gold answer is left out.
    """
    given = [document.answer for document in record.documents if document.type == "correct"]
    answers = (gold for gold in record.gold_answers if any(agree(each, gold) for each in given))
    answer = next(answers, None)
    if answer is None:
        return None
    passages = [
        Passage(
            document.text,
            IRRELEVANT
            if document.type == "noise" or document.answer == UNKNOWN
            else _side(agree(document.answer, answer)),
        )
        for document in record.documents
    ]
    return Question(record.question, _distinct(passages), (record.question, answer))


def conflictqa(record: KnowledgeConflict) -> Question:
    """ConflictQA: the claim is the model's own answer, as it is released.

    All four evidences go in: `parametric_memory` and its aligned evidence support,
    `counter_memory` and its aligned evidence contradict, as the data set has it. So an example
    with conflict has as many documents as one without, and their number tells nothing. Of the two
    aligned evidences one is a short list of facts from StrategyQA, from which the answer follows
    only by a further step ("Genghis Khan had sixteen children."); the other is written by a model
    and says outright what it argues for. Some model-written evidence argues for the other side or
    for none. The release's sides are kept as gold, so that no labeller is perfect here.
    """
    passages = _distinct(Passage(text, _side(own)) for text, own in evidence(record))
    claim = without_note(record.memory_answer)
    return Question(record.question, passages, claim=claim, question=record.question)


def climate_fever(record: ClimateClaim) -> Question:
    """CLIMATE-FEVER: claims with their five sentences; a disputed claim is one with conflict."""
    passages = [
        Passage(each.evidence, _CLIMATE[each.evidence_label], each.article or None)
        for each in record.evidences
    ]
    return Question(record.claim, tuple(passages), claim=record.claim, name=record.claim_id)


def wikicontradict(record: Side) -> Question:
    """WikiContradict: people's statement of one passage's answer; the other contradicts it."""
    passages = (Passage(record.supporting, SUPPORTS), Passage(record.contradicting, CONTRADICTS))
    return Question(record.question, passages, claim=record.claim, question=record.question)


def _side(supporting: bool) -> Relation:
    return SUPPORTS if supporting else CONTRADICTS


def agree(first: str, second: str) -> bool:
    """Whether two answers are the same, or one stands in the other as it is.

    Case, punctuation and articles aside: "3,559 people" and "3,559"; "Ice hockey" and "ice-hockey".
    Numbers have to be the same in both, and a word with a hyphen is one word: "All-girls" is no
    kind of "Girls", and "1-0" is not "0-1".
    """
    left, right = _words(first), _words(second)
    if "-".join(left).split("-") == "-".join(right).split("-"):
        return bool(left) or first.strip() == second.strip()
    return _numbers(left) == _numbers(right) and (_within(left, right) or _within(right, left))


def _words(text: str) -> list[str]:
    plain = re.sub(r"(?<=\d),(?=\d)", "", text.lower())
    word = f"(?:{word_pattern().pattern})"
    words = re.findall(f"{word}(?:-{word})*", plain)
    return [word for word in words if word not in {"the", "a", "an"}]


def _numbers(words: Sequence[str]) -> list[str]:
    return sorted(word for word in words if word[0].isdigit())


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether some words are a run of others."""
    starts = range(len(whole) - len(part) + 1)
    return bool(part) and any(whole[n : n + len(part)] == part for n in starts)


def _distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Without repetitions of a text; the first one's relation stays."""
    found: dict[str, Passage] = {}
    for each in passages:
        found.setdefault(each.text, each)
    return tuple(found.values())
