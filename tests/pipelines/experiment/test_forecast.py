"""Bounds by formula and hours by a probe, worked by hand."""

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from pipelines.experiment.cost import Cost, Tokens, judging
from pipelines.experiment.forecast import Forecast, Pace, table
from pipelines.judge.settings import JudgeSettings
from serving.tokens import ChatTokenizer


def words(*known: str) -> ChatTokenizer:
    """A tokenizer of whole words, whose chats begin with one."""
    made = Tokenizer(WordLevel({word: n for n, word in enumerate(("?", *known))}, unk_token="?"))
    made.pre_tokenizer = WhitespaceSplit()
    return ChatTokenizer(made, "Q: {{ messages[0].content }}", {})


def test_a_text_has_the_tokens_of_the_model_or_four_characters_each() -> None:
    assert Tokens()("It is red.", "Yes") == 3 + 1
    assert Tokens([words()])("It is red.", "Yes") == 3 + 1
    assert Tokens([words()])("a b c d", "<|im_end|>") == 4 + 2, "as it is sent"
    assert (Tokens().turn, Tokens([words()]).turn) == (0, 1)


def test_a_label_takes_a_call_for_each_place_where_labels_part() -> None:
    counted = Tokens([words("A", "B", "x", "y")])
    assert counted.choosing(("A", "B")) == 1
    assert counted.choosing(("A x", "A y")) == 1
    assert counted.choosing(("A x", "A y", "B")) == 2


def test_claims_are_judged_by_each_document() -> None:
    """Two claims of seven tokens together, documents of ten and twenty."""
    tokens = Tokens()
    own = tokens.prompt("judge/relation", document="", claim="")

    def cost(**settings: object) -> Cost:
        judge = JudgeSettings.model_validate(settings)
        return judging(judge, tokens, [10, 20], claims=2, claim_tokens=7, least=1)

    assert cost(judge="tagger") == Cost(pairs=4)
    read = 4 * own + 2 * (10 + 20) + 2 * 7
    assert cost(judge="model") == Cost((2, 4), read, 4)
    assert cost(judge="cascade") == Cost((0, 4), read, 4, pairs=4)
    asked = cost(judge="model", evidence="together")
    together = tokens.prompt("judge/relation_together", documents=["", ""], claim="")
    assert asked == Cost((1, 2), 2 * (together + 30) + 7, 2 * (16 * 2 + 32))


def test_hours_are_of_items_side_by_side() -> None:
    """Items of two and four seconds took four together: one and a half at a time."""
    told = Pace((2.0, 4.0), wall=4.0, in_flight=2).hours(3600)
    # t(1) = 12.71 times a standard error of 1.
    assert told == "hours: 2 (0 to 10), with 2 at once as in the probe"
    alone = Pace((3.0,), wall=3.0, in_flight=8, known=5).hours(3600)
    assert alone == (
        "hours: 3, with 1 at once as in the probe; a run has up to 8, which servers that batch do "
        "sooner; 5 answers were known, and took no time"
    )


def test_runs_are_summed_up_where_all_are_known() -> None:
    one, other = Cost((1, 2), 30, 4, 5), Cost((2, 2), 10)
    rows = table([("a", Forecast(1, 0, one)), ("b", Forecast(1, 0, other))])
    assert rows[-1].split("  ")[0] == "all"
    assert "from 3 to 4" in rows[-1]
    assert rows[-1].endswith("at most 5")
    unknown = table([("a", Forecast(1, 0, one)), ("b", Forecast(1, 0, None))])
    assert unknown[-1].count("unknown") == 4
