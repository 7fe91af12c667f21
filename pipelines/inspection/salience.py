"""Which words of a prompt each word of a response rests on."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from nli.sentences import sentences
from pipelines.npov.settings import GradientSettings

if TYPE_CHECKING:  # numpy
    from pipelines.report.explorer import ExperimentView
    from salience.decoder import Decoder
    from salience.maps import WordMap
    from salience.words import Word


class Resting(NamedTuple):
    """Salience of a response.

    `words` maps content words, `shown` what a page shows; `view` puts it there, with its picture
    where one is drawn.
    """

    words: "WordMap"
    shown: "WordMap"
    view: "Callable[[bytes | None], ExperimentView]"


def salience(
    prompt: str,
    response: str,
    decoder: "Decoder",
    gradients: GradientSettings,
    *,
    by_tokens: bool = False,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> Resting:
    """Take the gradients, and sum them up by words; `on_progress` is told (done, total) tokens.

    Raises:
        SalienceError: As `Decoder.encode` and `Decoder.salience`.
    """
    from pipelines.npov.check import sentence_spans
    from pipelines.report.explorer import single
    from pipelines.report.heatmap import heatmap, picture, sides
    from salience.maps import tokens_of, word_map, words_of

    encoded = decoder.encode(prompt, response)
    given = [(span.start, span.end) for span in sentences(prompt)]
    answered = sentence_spans(encoded)
    tokens = decoder.salience(encoded, **gradients.model_dump(), on_progress=on_progress)
    found = shown = word_map(encoded, tokens, words_of(encoded, given), words_of(encoded, answered))
    if by_tokens:
        shown = word_map(encoded, tokens, tokens_of(encoded, given), tokens_of(encoded, answered))

    def view(drawn: bytes | None) -> "ExperimentView":
        # A text per sentence; words are shaded by their largest share.
        shaded = heatmap(*sides(shown, given, answered), shown.values)
        return single("salience", "What the response rests on", (shaded, *picture(drawn)))

    return Resting(found, shown, view)


def as_data(found: "WordMap") -> dict[str, Any]:
    """The map as JSON has it: words with their characters, and shares of response words."""

    def words(side: "tuple[tuple[Word, ...], ...]") -> list[dict[str, Any]]:
        every = [word for part in side for word in part]
        return [{"text": word.text, "start": word.start, "end": word.end} for word in every]

    return {
        "text": found.encoded.text,
        "prompt_words": words(found.given),
        "response_words": words(found.response),
        "shares": [[round(float(share), 6) for share in row] for row in found.values],
    }
