"""Bad models, servers, keys and texts too long: one clear line, code 2, and nothing is lost."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from by_schema import reply
from commands import Contested, contents, records, results, table, write
from scripted import Scripted
from tiny_words import word_counting

from serving.tokens import ChatTokenizer

DOCUMENTS = [{"id": "survey", "text": "The bridge was opened in 1936."}]


def write_records(path: Path, *responses: str, documents: list[dict[str, str]] = DOCUMENTS) -> Path:
    made = (
        {"id": f"r{number}", "response": response, "documents": documents}
        for number, response in enumerate(responses)
    )
    write(path, *made)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_records(tmp_path / "data.jsonl", "The bridge is old.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return word_counting(tmp_path / "tiny", "SUPPORTS", "CONTRADICTS", "IRRELEVANT")


def run(data: Path, *more: object) -> list[object]:
    out, cache = data.parent / "out", data.parent / "cache.sqlite"
    return ["run", "conflictscore", "--data", data, "--out", out, "--cache", cache, *more]


# Servers.


def test_a_wrong_key(
    contested: Contested, data: Path, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    contested.done(*run(data, "--endpoint", endpoint.url))
    before = contents(data.parent / "out")
    for key, part in (
        ("wrong", "refuses the key; set CONTESTED_API_KEY to the one it was started with"),
        ("sésame", "the key in CONTESTED_API_KEY has characters that no key can have"),
    ):
        monkeypatch.setenv("CONTESTED_API_KEY", key)
        message = contested.refused(*run(data, "--endpoint", endpoint.url))
        assert part in message
        assert key not in message
        assert contents(data.parent / "out") == before


def test_a_server_without_probabilities(
    contested: Contested, data: Path, endpoint: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many OpenAI-compatible servers pass over vLLM's own fields."""
    answer = endpoint.answer

    def plain(request: dict[str, Any]) -> dict[str, Any] | int:
        reply = answer(request)
        assert isinstance(reply, dict)
        reply["choices"][0]["logprobs"] = None
        return reply

    monkeypatch.setattr(endpoint, "answer", plain)
    message = contested.refused(*run(data, "--endpoint", endpoint.url))
    assert "scripted does not give the log-probabilities of labels" in message
    assert "--evidence json" in message


# Texts and contexts.


def long_document(megabytes: float) -> dict[str, str]:
    """`megabytes` million characters, five to a token."""
    return {"id": "archive", "text": "word " * int(megabytes * 200_000)}


@pytest.mark.parametrize(
    ("evidence", "overflow"),
    [("choice", "error"), ("json", "cut"), ("together", "cut")],
)
def test_a_claim_too_long_for_a_model_costs_itself_alone(
    evidence: str, overflow: str, contested: Contested, endpoint: Scripted, folder: Path
) -> None:
    endpoint.root, endpoint.context, endpoint.reply = str(folder), 2048, reply
    data = write_records(folder.parent / "data.jsonl", "Old.", "New.")
    claims = ["The bridge is old.", "word " * 1_700, "word " * 30_000, "It has two lanes."]
    first, *others = records(data)
    write(data, first | {"claims": claims}, *others)
    how = ("--evidence", evidence, "--on-overflow", overflow)
    contested.done(*run(data, "--endpoint", endpoint.url, *how))
    found = results(data.parent / "out")
    assert found["r1"]["status"] == "scored"
    refused = [each.get("raw") is None and each["reasoning"] for each in found["r0"]["judgements"]]
    long = [each for each in refused if each and "the claim is too long for scripted" in each]
    assert len(long) == (1 if evidence == "choice" else 2)
    assert found["r0"]["unread_claims"] >= len(long)


def test_a_document_of_half_a_megabyte(
    contested: Contested, endpoint: Scripted, folder: Path, tmp_path: Path
) -> None:
    endpoint.root, endpoint.context = str(folder), 2048
    data = write_records(
        tmp_path / "data.jsonl", "The bridge is old.", documents=[*DOCUMENTS, long_document(0.5)]
    )
    out = tmp_path / "out"
    command = run(data, "--endpoint", endpoint.url)
    message = contested.refused(*command)
    assert message.startswith("'r0': document 'archive' is too long for scripted: the prompt has 1")
    for part in ("the context leaves 2,047", "max_model_len", "allow --on-overflow cut"):
        assert part in message
    assert not (out / "conflictscore.jsonl").exists()

    shutil.rmtree(out)
    contested.done(*command, "--on-overflow", "cut")
    result = results(out)["r0"]
    (cut,) = result["truncations"]
    assert (cut["text"], cut["tokens"]) == ("document archive", 100_000)
    assert 1000 < cut["kept"] < 2048
    read = {judgement["document"]: judgement["read_tokens"] for judgement in result["judgements"]}
    assert read == {"survey": None, "archive": cut["kept"]}
    # The prompt that was sent fills the context as far as it can, and no further.
    tokenizer = ChatTokenizer.from_folder(folder)
    sent = max(tokenizer.count(request["messages"]) for request in endpoint.requests)
    assert 2040 <= sent <= 2047
    (row,) = table(out, "failures")
    assert (row["response"], row["what"]) == ("r0", "truncation")
    seen = f"document archive: the first {cut['kept']:,} of 100,000 tokens were seen"
    assert row["reason"] == seen
    assert table(out, "scores")[0]["truncated_texts"] == 1


# Requests that a server refuses.

PEOPLE = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


@pytest.fixture
def choosy(endpoint: Scripted) -> Scripted:
    endpoint.refuses = lambda prompt: "Nobody" in prompt
    return endpoint


def crowd(path: Path) -> Path:
    """Twenty-one records; the server refuses the last one, `r20`."""
    held = [f"{person.capitalize()} {verb} it." for person in PEOPLE for verb in ("held", "saw")]
    return write_records(path, *held, "Nobody held it.")


def test_a_refused_request_stops_a_run_and_keeps_what_came_before(
    contested: Contested, choosy: Scripted, tmp_path: Path
) -> None:
    data, out = crowd(tmp_path / "data.jsonl"), tmp_path / "out"
    command = run(data, "--endpoint", choosy.url, "--concurrency", "2")
    message = contested.refused(*command)
    refused = f"'r20': the server at {choosy.url} refuses the request (status 400)"
    assert message.startswith(refused)
    kept = results(out)
    assert 1 <= len(kept) <= 20
    assert {result["status"] for result in kept.values()} == {"scored"}
    before, asked = contents(out), len(choosy.requests)
    # Asking again gives the same line, and takes nothing away.
    assert contested.refused(*command).startswith(refused)
    assert contents(out)["run.json"] == before["run.json"]
    assert results(out).items() >= kept.items()

    choosy.refuses = lambda _: False
    contested.done(*command)
    assert list(results(out)) == [f"r{number}" for number in range(21)]
    assert results(out).items() >= kept.items()
    for prompt in choosy.prompts()[asked:]:
        assert not any(result["response"] in prompt for result in kept.values())
