"""A soft prompt's file: the same when read again, and refused where it is something else."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soft_prompts
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file
from tiny_loaded import loaded

from pipelines.errors import InputError
from pipelines.npov.classifier import with_prompt
from pipelines.npov.soft_prompt import SoftPrompt, Task, TunedOn, TuningSettings
from pipelines.npov.topics import Subject

MODEL = "ab" * 32


def soft_prompt(**changed: Any) -> SoftPrompt:
    known = {"task": "coverage", "curve": ((0, 2.5), (250, 0.75), (500, 0.75))}
    return soft_prompts.soft_prompt(width=8, **known | changed)


@given(st.integers(0, 2**32 - 1))
def test_it_is_the_same_to_the_bit_when_read_again(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    bits = np.random.default_rng(seed).integers(0, 2**32, size=(5, 8), dtype=np.uint32)
    vectors = bits.view(np.float32)
    vectors[~np.isfinite(vectors)] = -0.0
    file = tmp_path_factory.mktemp("prompts") / "own" / "prompt.safetensors"
    known = TunedOn(
        learned=(Subject(question="Is golf a sport?", topic="Golf"),),
        watched=(Subject(question="Is it?"),),
        examples={"synthetic errors": 3},
    )
    kept = soft_prompt(vectors=vectors, settings=TuningSettings(seed=seed), tuned_on=known)
    kept.save(file)
    read = SoftPrompt.load(file)
    assert read.vectors.tobytes() == vectors.tobytes()
    assert (read.model, read.task, read.settings) == (MODEL, "coverage", kept.settings)
    assert (read.curve, read.tuned_on) == (kept.curve, known)
    assert read.step == 250
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_another_model_or_task_is_refused() -> None:
    kept = soft_prompt()
    kept.check("coverage", width=8, model=MODEL)
    kept.check("coverage")
    wrong: list[tuple[Task, int, str, str]] = [
        ("hallucination", 8, MODEL, "tuned for coverage, not for hallucination"),
        ("coverage", 9, MODEL, "width 8.* than this one .*width 9"),
        ("coverage", 8, "cd" * 32, "another model .abababababab, .* than this one .cdcdcdcdcdcd,"),
    ]
    for task, width, model, problem in wrong:
        with pytest.raises(InputError, match=problem):
            kept.check(task, width=width, model=model)


def about(**changed: Any) -> dict[str, str]:
    settings = TuningSettings(tokens=2).model_dump()
    known = {"model": "a", "task": "coverage", "settings": settings, "curve": [[0, 1.5]]}
    known |= {"tuned_on": {"learned": [], "watched": []}}
    return {"soft_prompt": json.dumps(known | changed)}


TENSORS: dict[str, Any] = {"vectors": np.ones((2, 4), np.float32)}


@pytest.mark.parametrize(
    ("tensors", "known", "problem"),
    [
        ({"other": np.ones(2, np.float32)}, about(), "it has no vectors"),
        ({"vectors": np.ones((3, 4), np.float32)}, about(), r"shape \(3, 4\)"),
        ({"vectors": np.ones((2, 4), np.float16)}, about(), "float16"),
        ({"vectors": np.ones(2, np.float32)}, about(), r"shape \(2,\)"),
        ({"vectors": np.array(1, np.float32)}, about(), r"shape \(\)"),
        ({"vectors": np.full((2, 4), np.nan, np.float32)}, about(), "vectors are not all finite"),
        (TENSORS, about(task="poetry"), "it must be 'response', 'hallucination'"),
        (TENSORS, about(settings={}), r"shape \(2, 4\)"),
        (TENSORS, about(settings=[]), "it must be"),
        (TENSORS, about(settings={"tokens": 2, "speed": 3}), "there is no such field"),
        (TENSORS, about(curve=[]), "it is empty"),
        (TENSORS, {"soft_prompt": "{"}, "Invalid JSON"),
        (TENSORS, {"soft_prompt": "3"}, "it must be an object"),
        (TENSORS, None, "it has no soft_prompt"),
    ],
)
def test_another_content_is_refused(
    tmp_path: Path, tensors: dict[str, Any], known: dict[str, str] | None, problem: str
) -> None:
    file = tmp_path / "prompt.safetensors"
    save_file(tensors, file, metadata=known)
    with pytest.raises(InputError, match=problem) as refused:
        SoftPrompt.load(file)
    assert str(refused.value).startswith(f"{file} is not a soft prompt (")
    assert "\n" not in str(refused.value)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "prompt.safetensors"
    with pytest.raises(InputError, match=r"prompt\.safetensors cannot be read"):
        SoftPrompt.load(file)
    with pytest.raises(InputError, match="cannot be read"):
        SoftPrompt.load(tmp_path)
    soft_prompt().save(file)
    whole = file.read_bytes()
    for data in (b"", b"{}", whole[:40], whole[:-8], json.dumps({"a": 1}).encode() * 9):
        file.write_bytes(data)
        with pytest.raises(InputError, match="is damaged or not a safetensors file") as refused:
            SoftPrompt.load(file)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("architecture", ["llama", "gemma3"])
def test_salience_reads_it_as_tuning_does(architecture: str) -> None:
    """Gradients of the model in the hull that it was tuned in, by autograd."""
    import torch

    decoder = loaded(architecture)
    vectors = np.random.default_rng(3).normal(size=(5, decoder.width)).astype(np.float32)
    encoded = decoder.encode("User question: {Should the dam stay?}", " It holds water.")
    ids = torch.tensor([encoded.ids])
    read = decoder.model.get_input_embeddings()(ids).detach().requires_grad_(True)
    tuned = with_prompt(decoder, vectors)
    logits = tuned(inputs_embeds=read, attention_mask=torch.ones_like(ids)).logits[0]
    first = encoded.prompt_tokens
    (gradient,) = torch.autograd.grad(logits[5 + first - 1, ids[0, first]], read)
    wanted = (gradient * read.detach())[0].sum(-1).numpy()
    found = decoder.salience(encoded, prefix=vectors)[:, 0]
    assert np.abs(found - wanted).max() < 1e-4 * np.abs(wanted).max()
    assert not np.allclose(decoder.salience(encoded)[:, 0], wanted, rtol=1e-2)
