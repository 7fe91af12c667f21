"""Our gradients against those of Captum and, if installed, of inseq.

All arms attribute the same response to the same prompt with the same weights, in turn: Captum's
`LLMGradientAttribution` with `LayerGradientXActivation` in this process, inseq's `input_x_gradient`
in a separate one. Both differentiate one output token at a time. Captum differentiates
log-probabilities, so the other arms do too here, although the paper (and our default) uses logits.
bf16 is measured separately, because it is not exact.
"""

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import common
import inseq_process
import numpy as np
import psutil
import typer
from numpy.typing import NDArray
from rich.markup import escape

from pipelines.errors import InputError
from pipelines.inspection.npov import SAMPLE
from pipelines.npov.example import as_read, npov_prompt, read_example
from pipelines.report.progress import STDERR
from pipelines.runs.provenance import hardware
from salience.decoder import Decoder, Encoded
from salience.errors import SalienceError
from serving import models
from serving.home import default_models_dir

CAPTUM, INSEQ = "Captum, fp32", "inseq, fp32"
OURS, HALF = "batched, fp32", "batched, bf16"

Map = NDArray[np.floating]
Arm = Callable[[], Map]
Round = dict[str, tuple[float, float, Map]]
"""Arm -> seconds, peak memory growth in MiB, and the map over the prompt's tokens."""


def main(
    *,
    rounds: common.Rounds = 3,
    model: Annotated[
        str, typer.Option(help="A registered model, or a model folder.")
    ] = "smollm2-135m-instruct",
    models_dir: Annotated[
        Path | None, typer.Option(help="Folder of the registered models.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Take only so many tokens of the response.")
    ] = None,
    inseq: Annotated[
        Path | None,
        typer.Option(
            metavar="PYTHON",
            help="A Python interpreter that has inseq, as in a virtual environment of its own; "
            "without it inseq is left out.",
        ),
    ] = None,
) -> None:
    """Time the same gradients through all, and compare the maps.

    Prints Markdown: the machine, every round, the ratios, how alike the maps are, and how far this
    is from what the machine's matrix products allow.

    Example:
        .venv/bin/python scripts/bench/gradients.py --rounds 3
    """
    import torch

    load = psutil.getloadavg()[0]
    found = models.find(model, models_dir or default_models_dir())
    if inseq is None:
        STDERR.print(
            "[dim]inseq is left out; `python -m venv DIR`, `DIR/bin/pip install inseq` and "
            "--inseq DIR/bin/python bring it in[/dim]",
            soft_wrap=True,
        )
    about_inseq, processes = "", {}
    try:
        decoder = Decoder.load(found.path, precision="fp32")
        half = Decoder.load(found.path, precision="bf16")
        encoded = sample(decoder, tokens)
        arms: dict[str, Arm] = {
            CAPTUM: captum(decoder, encoded),
            OURS: lambda: decoder.salience(encoded, target="log_probability"),
            HALF: lambda: half.salience(encoded, target="log_probability"),
        }
        with ExitStack() as open_:
            if inseq is not None:
                end = encoded.offsets[-1][1]
                texts = encoded.prompt, encoded.text[len(encoded.prompt) : end]
                other = open_.enter_context(
                    inseq_process.started(inseq, found.path, texts, encoded.ids, decoder.device)
                )
                arms = {INSEQ: other.attribute, **arms}
                processes[INSEQ] = other.pid
                about_inseq = f"- inseq: {other.versions}, a process of its own\n"
            measured = interleaved(arms, encoded.prompt_tokens, rounds, processes)
    except (SalienceError, common.PeerError) as error:
        raise InputError(str(error)) from error
    here = hardware()
    responses = len(encoded.ids) - encoded.prompt_tokens
    print(
        f"{encoded.prompt_tokens} tokens of prompt and {responses} of response; gradients of "
        "log-probabilities.\n\n"
        f"- machine: {here['processor']}, {here['cores']} cores, {here['memory_gib']} GiB, "
        f"{', '.join(here['gpus']) or 'no GPU'}; load {load:.1f} before the start; "
        f"threads of each arm: {torch.get_num_threads()}\n"
        f"- model: {found.name}, digest {found.digest}, on {decoder.device}\n"
        f"- Captum: {version('captum')}, with torch {version('torch')} and transformers "
        f"{version('transformers')}, as ours\n{about_inseq}"
        f"- date: {time.strftime('%Y-%m-%d', time.gmtime())}\n"
    )
    print(rounds_table(measured), end="\n\n")
    for theirs in [name for name in (CAPTUM, INSEQ) if name in measured[0]]:
        print(comparison_table(measured, theirs), end="\n\n")
    print(limit_table({OURS: decoder, HALF: half}, encoded, measured))


def sample(decoder: Decoder, tokens: int | None) -> Encoded:
    """The bundled response, as `contested check-npov` reads it, truncated to `tokens`."""
    example = read_example(SAMPLE)
    encoded = decoder.encode(npov_prompt(example).text, as_read(example.response))
    end = None if tokens is None else encoded.prompt_tokens + tokens
    return replace(encoded, ids=encoded.ids[:end], offsets=encoded.offsets[:end])


def captum(decoder: Decoder, encoded: Encoded) -> Arm:
    """Captum's class for language models; it drops attributions to earlier response tokens."""
    import torch
    from captum.attr import LayerGradientXActivation, LLMGradientAttribution, TextTokenInput

    model, tokenizer = decoder.model, decoder.tokenizer
    attribution = LLMGradientAttribution(
        LayerGradientXActivation(model, model.get_input_embeddings()), tokenizer
    )
    read = TextTokenInput(encoded.prompt, tokenizer, skip_tokens=[])
    answered = torch.tensor(encoded.ids[encoded.prompt_tokens :], device=decoder.device)

    def attributed() -> Map:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about how it would print the tokens
            scores = attribution.attribute(read, target=answered).token_attr
        return np.asarray(scores.detach().cpu().numpy().T)

    return attributed


def interleaved(
    arms: dict[str, Arm], prompt_tokens: int, rounds: int, processes: Mapping[str, int]
) -> list[Round]:
    """Measure the arms in turn; every other round in reverse order, against slow drift.

    The first `prompt_tokens` rows of their maps are compared. `processes` maps arms to the ids of
    their processes, if other than this one.
    """
    measured = []
    for number in range(1, rounds + 1):
        round_: Round = {}
        for name in list(arms) if number % 2 else list(arms)[::-1]:
            with memory_growth(processes.get(name)) as grown:
                start = time.perf_counter()
                salience = arms[name]()
                seconds = time.perf_counter() - start
            round_[name] = seconds, grown(), salience[:prompt_tokens]
            STDERR.print(f"[dim]round {number}: {escape(name)}, {seconds:.1f} s[/dim]")
        measured.append({name: round_[name] for name in arms})
    return measured


@contextmanager
def memory_growth(pid: int | None) -> Iterator[Callable[[], float]]:
    """Peak growth in MiB of a process (by default this one) while a block runs.

    Memory is sampled every 20 ms; call the yielded function after the block.
    """
    process = psutil.Process(pid)
    before = process.memory_info().rss
    seen, ended = [before], threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            seen[0] = max(seen[0], process.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield lambda: (seen[0] - before) / 2**20
    finally:
        ended.set()
        thread.join()


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


def comparison_table(rounds: Sequence[Round], theirs: str) -> str:
    """Our speed relative to another arm's, and the similarity of the maps."""
    from scipy.stats import spearmanr

    rows = []
    for name in (OURS, HALF):
        ratios = [round_[theirs][0] / round_[name][0] for round_ in rounds]
        one, other = rounds[0][theirs][2], rounds[0][name][2]
        difference = np.abs(one - other).max() / np.abs(one).max()
        rank = spearmanr(np.abs(one).ravel(), np.abs(other).ravel()).statistic
        speeds = [f"{f(ratios):.1f}" for f in (min, np.median, max)]
        rows.append((name, *speeds, f"{difference:.1e}", f"{rank:.4f}"))
    speed = (f"speed-up over {theirs}", "min", "median", "max")
    return common.markdown((*speed, "largest difference", "Spearman of sizes"), rows)


def limit_table(decoders: dict[str, Decoder], encoded: Encoded, rounds: Sequence[Round]) -> str:
    """Seconds that the gradients' matrix products take at the machine's best rate.

    Each output token's gradient passes back through every weight matrix once per earlier position;
    attention and the forward passes are not counted.
    """
    rows = []
    positions = sum(range(encoded.prompt_tokens, len(encoded.ids)))
    for name, decoder in decoders.items():
        model: Any = decoder.model
        inner = {"embed_tokens", "lm_head"}
        weights = sum(
            parameter.numel()
            for path, parameter in model.named_parameters()
            if parameter.dim() == 2 and not inner & set(path.split("."))
        )
        needed, rate = 2 * weights * positions, product_rate(model)
        least = needed / rate
        taken = float(np.median([round_[name][0] for round_ in rounds]))
        times = f"{least:.1f}", f"{taken:.1f}", f"{least / taken:.0%}"
        rows.append((name, f"{rate / 1e9:,.0f}", f"{needed / 1e12:.2f}", *times))
    head = ("arm", "best GFLOP/s", "TFLOP needed", "least seconds", "taken", "share")
    return common.markdown(head, rows)


def product_rate(model: Any) -> float:
    """Floating-point operations per second of a matrix product of the model's shape."""
    import torch

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
