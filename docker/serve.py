"""Serves the model of a profile to the other containers of a network.

As `contested serve` does on loopback, but at any address, with the key of CONTESTED_API_KEY and the
model in /models/NAME. CONTESTED_PROFILE names the profile; its judge is served, or its generator
where CONTESTED_ROLE says so. The GPUs of the container are given out as everywhere; all replicas
are copies in one server (vLLM's data parallelism), so that they have one address.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from serving import placement
from serving import profile as profiles
from serving.errors import ServingError
from serving.folders import check_folder
from serving.models import Model
from serving.server import command, variables

PORT = 8000
MODELS = Path("/models")


def served(
    settings: Mapping[str, str], models_dir: Path = MODELS
) -> tuple[list[str], dict[str, str]]:
    """The command that serves, and its environment.

    Raises:
        ServingError: The key, the profile or the model is missing, or the GPUs do not suffice.
    """
    key = settings.get("CONTESTED_API_KEY", "")
    if not key:
        raise ServingError("there is no key; write one into the file that CONTESTED_KEY_FILE names")
    profile = profiles.load(settings.get("CONTESTED_PROFILE"))
    role = settings.get("CONTESTED_ROLE")
    name = profile.roles.generator if role == "generator" else profile.roles.judge
    folder = models_dir / name
    check_folder(folder)
    options = profile.engines[name]
    gpus: list[str] = []
    copies: list[str] = []
    if options.on_gpus:
        seats = placement.here(profile).seats(name)
        share = min(seat.share for seat in seats)
        options = options.model_copy(update={"gpu_memory_share": share})
        gpus = [gpu for seat in seats for gpu in seat.gpus]
        copies = ["--data-parallel-size", str(len(seats))]
    line = command(Model(name, folder, digest=""), options, PORT)
    # The network of the containers is internal. Of two hosts vLLM takes the last.
    line += ["--host", "0.0.0.0", *copies]  # noqa: S104
    return line, variables(options, key, gpus)


def main() -> None:
    """Become the server."""
    try:
        line, environment = served(os.environ)
    except ServingError as error:
        print(f"contested: {error}", file=sys.stderr)
        sys.exit(2)
    os.execve(line[0], line, environment)  # noqa: S606 - a fixed program


if __name__ == "__main__":
    main()
