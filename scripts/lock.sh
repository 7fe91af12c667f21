#!/usr/bin/env bash
# Makes the lock files in requirements/ anew from pyproject.toml; --upgrade takes the newest versions.
# Needs an index. CONTESTED_TORCH_INDEX names one with the CPU build of torch, as in environment.sh.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${CONTESTED_PYTHON:-python3}" -m venv "$tools"
"$tools/bin/python" -m pip install -qq --disable-pip-version-check uv packaging
export PATH="$tools/bin:$PATH"
# uv knows nothing of pip's settings.
python "$ROOT/scripts/lock.py" "$@" \
  ${PIP_FIND_LINKS:+--find-links "$PIP_FIND_LINKS"} \
  ${CONTESTED_TORCH_INDEX:+--extra-index-url "$CONTESTED_TORCH_INDEX"}
