"""inseq's gradients for `gradients.py`, from a separate environment: both ends of a pipe.

The requirements of inseq change with its versions and may conflict with this project's packages. So
inseq's interpreter runs this file, which imports nothing from the project. The benchmark sends it
lines of JSON: the task, then an empty line per attribution.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Inseq:
    """A process with a loaded model, and the versions of inseq and its backend."""

    pid: int
    versions: str
    _ids: tuple[int, ...]
    _ask: Callable[[dict[str, Any]], Any]

    def attribute(self) -> NDArray[np.floating]:
        """Input times gradient of the log-probability of every response token, (n, n - m).

        NaN at tokens that do not precede it. Raises PeerError if the tokens differ from the
        benchmark's.
        """
        from common import PeerError

        reply = self._ask({})
        if tuple(reply["ids"]) != self._ids:
            raise PeerError("inseq reads the texts as other tokens, so maps cannot be compared")
        return np.array(reply["map"], dtype=np.float64)


@contextmanager
def started(
    python: Path, folder: Path, texts: tuple[str, str], ids: Sequence[int], device: str
) -> Iterator[Inseq]:
    """Start inseq with as many threads as this process, and load the model in fp32.

    `python` is an interpreter with inseq; `ids` are our tokens of prompt and response.

    Raises:
        PeerError: The interpreter does not exist, lacks inseq, or inseq cannot load the model.
    """
    import torch
    from common import peer

    threads = torch.get_num_threads()
    task = {"folder": str(folder), "texts": texts, "device": device, "threads": threads}
    with peer(python, __file__, "inseq") as (pid, ask):
        yield Inseq(pid, ask(task)["versions"], tuple(ids), ask)


def _serve() -> None:
    """Runs in inseq's interpreter."""
    # Libraries print; redirect their output to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import inseq  # type: ignore[import-not-found, unused-ignore]
    import torch
    import transformers

    task = json.loads(sys.stdin.readline())
    torch.set_num_threads(task["threads"])
    model: Any = inseq.load_model(
        task["folder"],
        "input_x_gradient",
        device=task["device"],
        model_kwargs={"dtype": torch.float32},
    )
    model.model.requires_grad_(False)  # as in the other arms
    theirs = f"torch {torch.__version__} and transformers {transformers.__version__}"
    said: dict[str, Any] = {"versions": f"{version('inseq')}, with {theirs}"}
    print(json.dumps(said), file=answers, flush=True)
    prompt, response = task["texts"]
    for _ in sys.stdin:
        (attribution,) = model.attribute(
            prompt,
            prompt + response,
            attributed_fn="probability",
            logprob=True,
            show_progress=False,
            pretty_progress=False,
        ).sequence_attributions
        said = {
            "ids": [token.id for token in attribution.target],
            "map": attribution.target_attributions.sum(-1).tolist(),
        }
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
