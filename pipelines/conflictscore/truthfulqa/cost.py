"""What a question of TruthfulQA takes, by formula."""

from pipelines.conflictscore.cost import scoring
from pipelines.conflictscore.decomposition import LEAST_REPLY_TOKENS
from pipelines.conflictscore.settings import Settings
from pipelines.conflictscore.truthfulqa.items import Item
from pipelines.conflictscore.truthfulqa.judging import VERDICT_TOKENS, TruthJudgeName
from pipelines.conflictscore.truthfulqa.pipeline import CHOICE_TOKENS, NO_COMMENT
from pipelines.experiment.bounds import Cost, Tokens, call


def cost(
    item: Item, tokens: Tokens, settings: Settings, answer_tokens: int, truth: TruthJudgeName
) -> Cost:
    """Two answers, and two more where the first is in conflict; each has a score.

    An answer reads question and documents, one of the second two also the first answer, a claim of
    it, and a quote of each document. Free-form answers, at most four, and two or three known ones
    are judged: by the language model in two calls each, which read question, answer, and all right
    and wrong answers; by the tagger in a pair for each right and wrong one.
    """
    blank = [""] * len(item.documents)
    read = tokens(item.asked.question, *(each.as_read() for each in item.documents))
    again = {
        "documents": blank,
        "question": "?",
        "response": "",
        "claim": "?",
        "supporting": [{"document": 10, "text": ""}] * len(blank),
        "contradicting": [],
    }
    if item.options is not None:
        two = {"option_a": "", "option_b": ""}
        options = tokens(item.options.a, item.options.b)
        own = tokens.prompt(
            "conflictscore/choose_from_web", documents=blank, question="", careful=True, **two
        )
        chosen = call(own + read + options, CHOICE_TOKENS).times(2)
        own = tokens.prompt("conflictscore/choose_again", **again, **two)
        claim = read + options
        twice = call(own + read + options + options + claim, CHOICE_TOKENS).times(2, 0)
        claims = [f"{item.asked.question} {item.options.a} {item.options.b}"]
        return chosen + twice + scoring(settings, tokens, "", item.documents, claims).times(4, 0)
    own = tokens.prompt("conflictscore/answer_from_web", documents=blank, question="", careful=True)
    written = call(own + read, answer_tokens).times(2)
    own = tokens.prompt("conflictscore/regenerate", **again, hedged=True)
    claim = max(LEAST_REPLY_TOKENS, 3 * (answer_tokens + tokens.turn))
    rewritten = call(own + 2 * read + answer_tokens + claim, answer_tokens).times(2, 0)
    scored = scoring(settings, tokens, answer_tokens, item.documents).times(4)
    return written + rewritten + scored + _judged(item, tokens, answer_tokens, truth)


def _judged(item: Item, tokens: Tokens, answer_tokens: int, truth: TruthJudgeName) -> Cost:
    asked, made = item.asked, 4
    best = (asked.best_answer, asked.best_incorrect_answer, NO_COMMENT)
    known = {each for each in best if each is not None}
    references = (*asked.correct_answers, *asked.incorrect_answers)
    if truth == "nli":
        return Cost(pairs=(made + len(known)) * len(references))
    lists = {
        "correct": [""] * len(asked.correct_answers),
        "incorrect": [""] * len(asked.incorrect_answers),
    }
    read = tokens(asked.question, *references) + max(answer_tokens, *map(tokens, known))
    total = Cost()
    for name in ("judge_truthful", "judge_informative"):
        own = tokens.prompt(f"conflictscore/{name}", question="", answer="", **lists)
        total += call(own + read, VERDICT_TOKENS).times(made + len(known), len(known))
    return total
