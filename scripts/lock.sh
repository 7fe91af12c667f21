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
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX=$PIP_INDEX_URL
[ -z "${PIP_EXTRA_INDEX_URL:-}" ] || export UV_INDEX=$PIP_EXTRA_INDEX_URL
links=()
for link in ${PIP_FIND_LINKS:-}; do
  links+=(--find-links "$link")
done
python "$ROOT/scripts/lock.py" "$@" ${links[@]+"${links[@]}"}
