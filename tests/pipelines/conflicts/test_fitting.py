"""Sources made to fit a real tokenizer's count and a small context."""

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.conflicts.data import Query, Source
from pipelines.conflicts.pipeline import fit_sources
from pipelines.conflicts.settings import ConflictsSettings
from pipelines.conflicts.strategies import Writer, writer
from pipelines.conflicts.taxonomy import ConflictType
from pipelines.judge.fitting import fit
from pipelines.judge.judgement import Truncation
from serving.cache import CompletionCache
from serving.calls import ServedIdentity
from serving.client import Backend, Client
from serving.errors import RequestError
from serving.models import Model
from serving.tokens import ChatTokenizer

SETTINGS = ConflictsSettings(answer_tokens=64)
SENTENCE = "The tower was opened to the public in May of that year. "


def writing(model: Model, context: int, folder: Path) -> Writer:
    """A writer that counts with a model's tokenizer, and has no server."""
    client = Client(
        ServedIdentity("small", "digest", "engine", context),
        ChatTokenizer.from_folder(model.path),
        CompletionCache(folder / "c.sqlite"),
        Backend([]),
    )
    return writer(client, SETTINGS)


def asked(*lengths: int) -> Query:
    """A query whose sources have so many sentences."""
    return Query(
        id="tower-7",
        query="When did the tower open?",
        conflict_type=ConflictType.OUTDATED,
        sources=tuple(
            Source(
                text=SENTENCE * length,
                url=f"https://tower.example/{number}",
                title="The tower",
                snippet="Opened in 1889 ...",
                date="2021",
            )
            for number, length in enumerate(lengths, 1)
        ),
    )


def fitted(query: Query, by: Writer, *, cut: bool) -> tuple[Query, tuple[Truncation, ...]]:
    return fit_sources(query, replace(by, settings=SETTINGS.model_copy(update={"cut": cut})))


def tokens(query: Query, by: Writer) -> int:
    return by.client.count(by.longest(query)(query))


def of_text(query: Query, by: Writer) -> list[int]:
    assert by.client.tokenizer is not None
    return [len(by.client.tokenizer.encode(source.text)) for source in query.sources]


def test_the_longest_sources_are_cut_to_a_common_length(smollm2: Model, tmp_path: Path) -> None:
    by = writing(smollm2, 2048, tmp_path)
    query = asked(2, 60, 3, 90)
    whole = of_text(query, by)
    found, truncations = fitted(query, by, cut=True)
    (cap,) = {each.kept for each in truncations}
    assert [(each.text, each.tokens) for each in truncations] == [
        ("document 2", whole[1]),
        ("document 4", whole[3]),
    ]
    assert of_text(found, by) == [whole[0], cap, whole[2], cap]
    for before, after in zip(query.sources, found.sources, strict=True):
        assert before.text.startswith(after.text)
        assert before.model_copy(update={"text": after.text}) == after
    assert found.model_copy(update={"sources": query.sources}) == query
    room = 2048 - by.room
    assert tokens(found, by) <= room < tokens(query, by)
    # Little room is left: a few tokens, for the marks of fences change with the texts.
    assert tokens(found, by) > room - 20


def test_special_tokens_of_a_source_are_counted_as_text(smollm2: Model, tmp_path: Path) -> None:
    by = writing(smollm2, 2048, tmp_path)
    hostile = Query(id="h", query="When?", sources=(Source(text="<|im_end|>" * 3000),))
    found, (truncation,) = fitted(hostile, by, cut=True)
    assert truncation.tokens > 3000
    assert 1000 > truncation.kept > 100
    assert tokens(found, by) + by.reply_tokens <= 2048
    assert "<|im_end|>" not in found.sources[0].text


@pytest.mark.parametrize("text", ["塔" * 4000, "🗼" * 2000, "x" * 20000])
def test_any_script(smollm2: Model, tmp_path: Path, text: str) -> None:
    by = writing(smollm2, 2048, tmp_path)
    query = Query(id="q", query="When?", sources=(Source(text=text), Source(text="In 1889.")))
    found, (truncation,) = fitted(query, by, cut=True)
    assert truncation.text == "document 1"
    assert text.startswith(found.sources[0].text)
    assert found.sources[0].text
    assert tokens(found, by) + by.reply_tokens <= 2048


async def test_one_text_is_whole_if_it_fits_and_else_cut_to_the_last_token(
    smollm2: Model, tmp_path: Path
) -> None:
    client = writing(smollm2, 300, tmp_path).client

    def render(text: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"Read this.\n{text}\nAnswer."}]

    async def fit_to(text: str, *, cut: bool) -> tuple[str, tuple[Truncation, ...]]:
        return await fit(text, client, render, max_tokens=5, cut=cut, name="it", called="a text")

    short, long = "The river is long.", "The river is long. " * 100
    assert await fit_to(short, cut=False) == (short, ())
    begun, (truncation,) = await fit_to(long, cut=True)
    assert long.startswith(begun)
    assert truncation.text == "a text"
    assert 0 < truncation.kept < truncation.tokens
    assert 300 - 3 <= client.count(render(begun)) + 5 <= 300
    with pytest.raises(RequestError, match=rf"it is too long .* has {client.count(render(long))}"):
        await fit_to(long, cut=False)
