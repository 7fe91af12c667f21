"""Our gradients against those of Captum and, if installed, of inseq.

All arms attribute the same response to the same prompt with the same weights, in turn: Captum's
`LLMGradientAttribution` with `LayerGradientXActivation` in this process, inseq's `input_x_gradient`
in a separate one. Both differentiate one output token at a time. Captum differentiates
log-probabilities, so the other arms do too here, although the paper (and our default) uses logits.
bf16 is measured separately, because it is not exact.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import common
import numpy as np
import psutil
import typer
from numpy.typing import NDArray

from pipelines.errors import InputError
from pipelines.inspection.npov import SAMPLE
from pipelines.npov.example import as_read, npov_prompt, read_example
from pipelines.report.progress import STDERR
from salience.decoder import Decoder, Encoded
from salience.errors import SalienceError
from serving import models
from serving.home import default_models_dir

CAPTUM, INSEQ = "Captum, fp32", "inseq, fp32"
OURS, HALF = "batched, fp32", "batched, bf16"

Map = NDArray[np.floating]
Arm = Callable[[], Map]
Round = dict[str, tuple[float, Map]]
"""Arm -> seconds, and the map over the prompt's tokens."""


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

    Prints Markdown: the machine, every round, the ratios, and how alike the maps are.

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
    about_inseq = ""
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
                ask = open_.enter_context(common.other(inseq, "inseq_process.py"))
                end = encoded.offsets[-1][1]
                texts = encoded.prompt, encoded.text[len(encoded.prompt) : end]
                task = {"folder": str(found.path), "texts": texts, "device": decoder.device}
                versions = ask(task | {"threads": torch.get_num_threads()})["versions"]
                arms = {INSEQ: lambda: by_inseq(ask, encoded), **arms}
                about_inseq = f"- inseq: {versions}, a process of its own\n"
            measured = interleaved(arms, encoded.prompt_tokens, rounds)
    except SalienceError as error:
        raise InputError(str(error)) from error
    responses = len(encoded.ids) - encoded.prompt_tokens
    print(
        f"{encoded.prompt_tokens} tokens of prompt and {responses} of response; gradients of "
        "log-probabilities.\n\n"
        f"{common.machine_line(load)}; threads of each arm: {torch.get_num_threads()}\n"
        f"- model: {found.name}, digest {found.digest}, on {decoder.device}\n"
        f"- Captum: {version('captum')}, with torch {version('torch')} and transformers "
        f"{version('transformers')}, as ours\n{about_inseq}"
        f"{common.date_line()}\n"
    )
    print(rounds_table(measured), end="\n\n")
    for theirs in [name for name in (CAPTUM, INSEQ) if name in measured[0]]:
        print(comparison_table(measured, theirs), end="\n\n")


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
            found = attribution.attribute(read, target=answered).token_attr
        return np.asarray(found.detach().cpu().numpy().T)

    return attributed


def by_inseq(ask: common.Ask, encoded: Encoded) -> Map:
    """Input times gradient of the log-probability of every response token, by inseq.

    NaN at tokens that do not precede it; InputError if inseq reads the texts as other tokens.
    """
    found = ask({})
    if found["ids"] != list(encoded.ids):
        raise InputError("inseq reads the texts as other tokens, so maps cannot be compared")
    return np.array(found["map"], dtype=np.float64)


def interleaved(arms: dict[str, Arm], prompt_tokens: int, rounds: int) -> list[Round]:
    """Measure the arms in turn; the first `prompt_tokens` rows of their maps are compared."""
    measured: list[Round] = [{} for _ in range(rounds)]
    for number, name in common.turns(arms, rounds):
        start = time.perf_counter()
        salience = arms[name]()
        seconds = time.perf_counter() - start
        measured[number - 1][name] = seconds, salience[:prompt_tokens]
        common.tell(number, name, seconds)
    return [{name: found[name] for name in arms} for found in measured]


def rounds_table(rounds: Sequence[Round]) -> str:
    """One row per round and arm."""
    return common.markdown(
        ("round", "arm", "seconds"),
        [
            (str(number), name, f"{seconds:.1f}")
            for number, round_ in enumerate(rounds, start=1)
            for name, (seconds, _) in round_.items()
        ],
    )


def comparison_table(rounds: Sequence[Round], theirs: str) -> str:
    """Our speed relative to another arm's, and the similarity of the maps."""
    from scipy.stats import spearmanr

    rows = []
    for name in (OURS, HALF):
        ratios = [round_[theirs][0] / round_[name][0] for round_ in rounds]
        one, other = rounds[0][theirs][1], rounds[0][name][1]
        difference = np.abs(one - other).max() / np.abs(one).max()
        rank = spearmanr(np.abs(one).ravel(), np.abs(other).ravel()).statistic
        rows.append((name, *common.spread(ratios), f"{difference:.1e}", f"{rank:.4f}"))
    speed = (f"speed-up over {theirs}", "min", "median", "max")
    return common.markdown((*speed, "largest difference", "Spearman of sizes"), rows)


if __name__ == "__main__":
    common.run(main)
