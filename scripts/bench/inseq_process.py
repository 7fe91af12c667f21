"""inseq's gradients for `gradients.py`, in an environment of its own; see `common.other`.

The first line of JSON is the task, every further one asks for an attribution.
"""

import json
import os
import sys
from importlib.metadata import version
from typing import Any


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
        (found,) = model.attribute(
            prompt,
            prompt + response,
            attributed_fn="probability",
            logprob=True,
            show_progress=False,
            pretty_progress=False,
        ).sequence_attributions
        said = {
            "ids": [token.id for token in found.target],
            "map": found.target_attributions.sum(-1).tolist(),
        }
        print(json.dumps(said), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
