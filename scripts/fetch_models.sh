#!/usr/bin/env bash
# On a machine with a network: fetches the models of a profile and registers them; with --out, makes a
# bundle, a folder from which scripts/install_offline.sh installs the project on a machine without one.
# See --help, and docs/offline.md.
#
# Models are registered in the project's environment, which is made if it is not there. A bundle is
# made in that if it is there, else in an environment of its own for this call.
# CONTESTED_TORCH_INDEX names an index with the CPU build of torch, as in environment.sh.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
bundle=
for word in "$@"; do
  case $word in --out | --out=* | -h | --help) bundle=yes ;; esac
done
[ -n "$bundle" ] || prepare_environment
python=${CONTESTED_VENV:-$ROOT/.venv}/bin/python
needed=(huggingface_hub packaging platformdirs pydantic)
there='import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1:])))'
if ! "$python" -c "$there" "${needed[@]}" 2>/dev/null; then
  find_python
  tools=$(mktemp -d)
  trap 'rm -rf "$tools"' EXIT
  "$PYTHON" -m venv "$tools" || fail "no environment can be made; is python3-venv installed?"
  python=$tools/bin/python
  "$python" -m pip install -qq --disable-pip-version-check -c "$ROOT/requirements/cpu.txt" \
    "${needed[@]}" || fail "what this needs cannot be fetched"
fi
PYTHONPATH=$ROOT "$python" "$ROOT/scripts/fetch_models.py" "$@"
