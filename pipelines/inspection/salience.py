"""Which words of a prompt the words of a response rest on."""

import asyncio
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, RootModel

from pipelines.data.text import read_text
from pipelines.errors import InputError
from pipelines.experiment.experiment import Models
from pipelines.experiment.needs import Needs
from pipelines.inspection.task import Inspection, Shown, Task, Tell
from pipelines.npov.decoder import DecoderFolder, DecoderOptions, MeasureOption, decoder_folder
from pipelines.option import Option, Options

if TYPE_CHECKING:
    from pipelines.report.explorer import ExperimentView
    from pipelines.report.glance import ModelUsed
    from pipelines.report.texts import Block
    from salience.decoder import Decoder
    from salience.maps import WordMap
    from salience.words import Word

FoundT = TypeVar("FoundT")

MOST = 3
"""Most words of the prompt listed for each word of the response."""


def text_or_file(given: str) -> str:
    """A text given on the command line, or the unchanged text of a file given as @FILE."""
    if given.startswith("@"):
        return read_text(Path(given[1:]), strip=False)
    if given.encode("utf-8", "replace").decode() != given:
        raise InputError("the text is not UTF-8; set the terminal to UTF-8")
    return given


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty; give it text")
    return text


AsRead = Annotated[str, AfterValidator(_not_empty)]
"""A text as a model reads it, including white space at its ends."""


class PromptAsked(Options):
    """What a model read, and what it answered."""

    prompt: Annotated[
        AsRead,
        Option(
            "The prompt; @FILE reads it from a text file, including white space at its ends.",
            read=text_or_file,
        ),
        Shown("text"),
    ]
    response: Annotated[
        AsRead,
        Option(
            "The response, likewise. A space is inserted between the two if neither has one.",
            read=text_or_file,
        ),
        Shown("text"),
    ]

    @property
    def answer(self) -> str:
        """The response in the form that continues the prompt."""
        spaced = self.prompt[-1].isspace() or self.response[0].isspace()
        return self.response if spaced else f" {self.response}"


class MapOptions(DecoderOptions):
    """How gradients are taken and shown."""

    measure: MeasureOption = "input_x_gradient"


def needs(options: DecoderOptions) -> Needs:
    """No served model; ServingError if the model whose gradients are taken is missing."""
    decoder_folder(options)
    return Needs()


@lru_cache(maxsize=1)
def loaded(folder: DecoderFolder) -> "Decoder":
    """The model of a folder; it stays loaded for the page's next job."""
    return folder.load()


async def by_gradients(
    folder: DecoderFolder,
    tell: Tell,
    work: "Callable[[Decoder, Callable[[int, int], None]], FoundT]",
) -> FoundT:
    """Run gradient work in a thread; it stops at the next token once the task is cancelled."""
    stopped = threading.Event()

    def reached(done: int, total: int) -> None:
        if stopped.is_set():
            raise InputError("the job was stopped")
        tell(f"gradients of {done:,} of {total:,} tokens")

    tell(f"loading {folder.model.name}")
    try:
        return await asyncio.to_thread(lambda: work(loaded(folder), reached))
    finally:
        stopped.set()


def gradients_of(folder: DecoderFolder) -> "ModelUsed":
    """The model, for the page."""
    from pipelines.report.glance import ModelUsed

    return ModelUsed("gradients", folder.model.name, folder.model.digest)


async def salience(
    asked: PromptAsked, options: MapOptions, models: Models, tell: Tell
) -> Inspection[RootModel[dict[str, Any]]]:
    """Show which words of a prompt the words of a response rest on.

    For every response token, the gradient of its logit with respect to an earlier token is
    multiplied by that token's embedding. The squares, divided by their sum, are shares of salience.
    Salience that is not shown is on function words and on earlier words of the response. No server
    is needed.

    Examples:
        contested salience --prompt "The dam at Aldham was built in" --response " 1902."

        contested salience --prompt @guide.txt --response @answer.txt --html salience.html
    """
    from nli.sentences import sentences
    from pipelines.npov.check import sentence_spans
    from pipelines.report.explorer import single
    from pipelines.report.heatmap import heatmap, picture, sides
    from salience.maps import word_map, words_of

    folder = decoder_folder(options)
    spans = [(span.start, span.end) for span in sentences(asked.prompt)]

    def work(decoder: "Decoder", reached: Callable[[int, int], None]) -> "tuple[WordMap, str]":
        encoded = decoder.encode(asked.prompt, asked.answer)
        tokens = decoder.salience(encoded, measure=options.measure, on_progress=reached)
        given, said = (words_of(encoded, offsets) for offsets in (spans, sentence_spans(encoded)))
        made = word_map(encoded, tokens, given, said)
        return made, f"{decoder.precision} on {decoder.device}"

    found, computed = await by_gradients(folder, tell, work)
    title = "What the response rests on"

    def view(png: bytes | None) -> "ExperimentView":
        # One text per sentence; words are shaded by their largest share.
        shaded = heatmap(*sides(found, spans, sentence_spans(found.encoded)), found.values)
        content = (shaded, rests_on(found), *picture(png))
        return single("salience", title, content, [gradients_of(folder)])

    return Inspection(
        RootModel[dict[str, Any]](as_data(found)),
        f"gradients of {folder.model.name}, {computed}",
        title=title,
        view=view,
        picture=partial(found.picture, "") if found.values.size else None,
        about={"measure": options.measure, "computed": computed},
    )


def rests_on(found: "WordMap") -> "Block":
    """The words of the response, with the words of the prompt that they rest on most."""
    from pipelines.report.blocks import Grid
    from pipelines.report.texts import Note

    data = as_data(found)
    if not data["prompt_words"] or not data["response_words"]:
        which = "response" if data["prompt_words"] else "prompt"
        return Note(f"The {which} has no content words.")
    rows = []
    for place, word in enumerate(data["response_words"]):
        shares = [row[place] for row in data["shares"]]
        best = sorted(range(len(shares)), key=lambda n: -shares[n])[:MOST]
        sources = ", ".join(
            f"{data['prompt_words'][n]['text']} {shares[n]:.1%}" for n in best if shares[n]
        )
        rows.append(((word["text"],), (sources or "–",)))
    return Grid("What each word rests on", ("word", "rests on"), tuple(rows))


def as_data(found: "WordMap") -> dict[str, Any]:
    """The map for JSON: words with their characters, and the shares of response words."""

    def words(side: "tuple[tuple[Word, ...], ...]") -> list[dict[str, Any]]:
        listed = [word for part in side for word in part]
        return [{"text": word.text, "start": word.start, "end": word.end} for word in listed]

    return {
        "text": found.encoded.text,
        "prompt_words": words(found.given),
        "response_words": words(found.response),
        "shares": [[round(float(share), 6) for share in row] for row in found.values],
    }


SALIENCE = Task(
    name="salience",
    title="See what words rest on",
    asked=PromptAsked,
    options=MapOptions,
    needs=needs,
    inspect=salience,
    maps=True,
)
