"""Our gradients against Captum's `LLMGradientAttribution` with `LayerGradientXActivation`.

Both attribute the same response to the same prompt with the same weights, in turn, in one process.
Captum differentiates log-probabilities, one output token after the other; so do ours here, though
the paper (and our default) takes logits, and several at once. bf16 is measured apart, because it is
not exact.
"""

import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import common
import numpy as np
import psutil
import typer
from numpy.typing import NDArray
from rich.markup import escape

from pipelines.cli.npov import SAMPLE
from pipelines.cli.progress import STDERR
from pipelines.errors import InputError
from pipelines.npov.example import read_example
from pipelines.npov.prompt import npov_prompt
from pipelines.runs.provenance import hardware
from salience.decoder import Decoder, Encoded
from salience.errors import SalienceError
from serving import models
from serving.home import default_models_dir

THEIRS, OURS, HALF = "Captum, fp32", "batched, fp32", "batched, bf16"

Map = NDArray[np.floating]
Arm = Callable[[], Map]
Round = dict[str, tuple[float, float, Map]]
"""Arm -> seconds, MiB that memory grew by at most, and the map over the prompt's tokens."""


def main(
    *,
    rounds: common.Rounds = 3,
    model: Annotated[
        str, typer.Option(help="A registered model, or a model folder.")
    ] = "smollm2-135m-instruct",
    models_dir: Annotated[Path | None, typer.Option(help="Where registered models are.")] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Take only so many tokens of the response.")
    ] = None,
) -> None:
    """Time the same gradients through both, and compare the maps.

    Prints Markdown: the machine, every round, the ratios, how alike the maps are, and how far this
    is from what the machine's matrix products allow.

    Example:
        .venv/bin/python scripts/bench/gradients.py --rounds 3
    """
    load = psutil.getloadavg()[0]
    found = models.find(model, models_dir or default_models_dir())
    try:
        decoder = Decoder.load(found.path, precision="fp32")
        half = Decoder.load(found.path, precision="bf16")
        encoded = shortened(sample(decoder), tokens)
        arms: dict[str, Arm] = {
            THEIRS: captum(decoder, encoded),
            OURS: lambda: decoder.salience(encoded, target="log_probability"),
            HALF: lambda: half.salience(encoded, target="log_probability"),
        }
        measured = interleaved(arms, encoded.prompt_tokens, rounds)
    except SalienceError as error:
        raise InputError(str(error)) from error
    here = hardware()
    responses = len(encoded.ids) - encoded.prompt_tokens
    print(
        f"{encoded.prompt_tokens} tokens of prompt and {responses} of response; gradients of "
        "log-probabilities.\n\n"
        f"- machine: {here['processor']}, {here['cores']} cores, {here['memory_gib']} GiB, "
        f"{', '.join(here['gpus']) or 'no GPU'}; load {load:.1f} before the start\n"
        f"- model: {found.name}, digest {found.digest}, on {decoder.device}\n"
        f"- date: {time.strftime('%Y-%m-%d', time.gmtime())}\n"
    )
    print(rounds_table(measured), end="\n\n")
    print(comparison_table(measured), end="\n\n")
    print(limit_table({OURS: decoder, HALF: half}, encoded, measured))


def sample(decoder: Decoder) -> Encoded:
    """The bundled response, as `contested check-npov` reads it."""
    example = read_example(SAMPLE)
    return decoder.encode(npov_prompt(example).text, " ".join(example.response.split()))


def shortened(encoded: Encoded, tokens: int | None) -> Encoded:
    """The same with the first tokens of its response alone."""
    end = None if tokens is None else encoded.prompt_tokens + tokens
    return Encoded(
        encoded.prompt,
        encoded.response,
        encoded.ids[:end],
        encoded.prompt_tokens,
        encoded.offsets[:end],
    )


def captum(decoder: Decoder, encoded: Encoded) -> Arm:
    """Captum's class for language models; it drops what falls on earlier response tokens."""
    import torch  # noqa: PLC0415 - seconds that --help can spare
    from captum.attr import (  # noqa: PLC0415 - likewise
        LayerGradientXActivation,
        LLMGradientAttribution,
        TextTokenInput,
    )

    model, tokenizer = decoder._model, decoder._tokenizer
    attribution = LLMGradientAttribution(
        LayerGradientXActivation(model, model.get_input_embeddings()), tokenizer
    )
    read = TextTokenInput(encoded.prompt, tokenizer, skip_tokens=[])
    answered = torch.tensor(encoded.ids[encoded.prompt_tokens :], device=decoder.device)

    def attributed() -> Map:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of how it would print the tokens
            found = attribution.attribute(read, target=answered).token_attr
        return np.asarray(found.detach().cpu().numpy().T)

    return attributed


def interleaved(arms: dict[str, Arm], prompt_tokens: int, rounds: int) -> list[Round]:
    """Measure the arms in turn; every other round the other way round, against slow drift."""
    measured = []
    for number in range(1, rounds + 1):
        found: Round = {}
        for name in list(arms) if number % 2 else list(arms)[::-1]:
            with Memory() as memory:
                start = time.perf_counter()
                salience = arms[name]()
                seconds = time.perf_counter() - start
            found[name] = seconds, memory.grown_mib, salience[:prompt_tokens]
            STDERR.print(f"[dim]round {number}: {escape(name)}, {seconds:.1f} s[/dim]")
        measured.append({name: found[name] for name in arms})
    return measured


class Memory:
    """How far this process's memory grows while a block runs, sampled every 20 ms."""

    def __enter__(self) -> "Memory":
        self._process = psutil.Process()
        self._before = self._most = self._process.memory_info().rss
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def grown_mib(self) -> float:
        """MiB beyond what it had at the beginning."""
        return float(self._most - self._before) / 2**20

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self._most = max(self._most, self._process.memory_info().rss)


def rounds_table(rounds: Sequence[Round]) -> str:
    """One row per round and arm: seconds and memory."""
    return common.markdown(
        ("round", "arm", "seconds", "memory, MiB"),
        [
            (str(number), name, f"{seconds:.1f}", f"{mib:,.0f}")
            for number, round_ in enumerate(rounds, start=1)
            for name, (seconds, mib, _) in round_.items()
        ],
    )


def comparison_table(rounds: Sequence[Round]) -> str:
    """How many times as fast as Captum, and how alike the maps are."""
    from scipy.stats import spearmanr  # noqa: PLC0415 - slow to import

    rows = []
    for name in [name for name in rounds[0] if name != THEIRS]:
        ratios = [round_[THEIRS][0] / round_[name][0] for round_ in rounds]
        theirs, ours = rounds[0][THEIRS][2], rounds[0][name][2]
        difference = np.abs(theirs - ours).max() / np.abs(theirs).max()
        rank = spearmanr(np.abs(theirs).ravel(), np.abs(ours).ravel()).statistic
        rows.append(
            (
                name,
                *(f"{f(ratios):.1f}" for f in (min, np.median, max)),
                f"{difference:.1e}",
                f"{rank:.4f}",
            )
        )
    head = ("speed-up of", "min", "median", "max", "largest difference", "Spearman of sizes")
    return common.markdown(head, rows)


def limit_table(decoders: dict[str, Decoder], encoded: Encoded, rounds: Sequence[Round]) -> str:
    """Seconds that the gradients' matrix products take at the machine's best rate.

    Each output token's gradient goes back through every weight matrix once per position before it;
    attention and the forward passes are not counted.
    """
    rows = []
    positions = sum(range(encoded.prompt_tokens, len(encoded.ids)))
    for name, decoder in decoders.items():
        model: Any = decoder._model
        inner = {"embed_tokens", "lm_head"}
        weights = sum(
            each.numel()
            for path, each in model.named_parameters()
            if each.dim() == 2 and not inner & set(path.split("."))
        )
        rate = product_rate(model)
        least = 2 * weights * positions / rate
        taken = float(np.median([round_[name][0] for round_ in rounds]))
        rows.append(
            (
                name,
                f"{rate / 1e9:,.0f}",
                f"{2 * weights * positions / 1e12:.2f}",
                f"{least:.1f}",
                f"{taken:.1f}",
                f"{least / taken:.0%}",
            )
        )
    head = ("arm", "best GFLOP/s", "TFLOP needed", "least seconds", "taken", "share")
    return common.markdown(head, rows)


def product_rate(model: Any) -> float:
    """Floating-point operations per second of a matrix product of the model's own shape."""
    import torch  # noqa: PLC0415 - likewise

    config = model.config.get_text_config()
    sample = next(model.parameters())
    left = torch.randn(1024, config.hidden_size).to(sample)
    right = torch.randn(config.hidden_size, config.intermediate_size).to(sample)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        float((left @ right)[0, 0])  # waits for a GPU
        best = min(best, time.perf_counter() - start)
    return float(2 * left.numel() * config.intermediate_size) / best


if __name__ == "__main__":
    common.run(main)
