#!/usr/bin/env bash
# All checks and tests: style, types, import layers, then pytest. Arguments are passed to pytest.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
prepare_environment dev

cd "$ROOT"
ruff check .
ruff format --check --quiet .
lint-imports --no-cache
if [ $# -gt 0 ]; then
  mypy
  exec pytest "$@"
fi
# In parallel with the first tests, which wait for a server to start.
mypy &
types=$!
# Two workers, one file at a time each: many tests wait for a process or a server. Each worker uses
# one core, because threads of several processes slow each other down on shared cores.
export OMP_NUM_THREADS=1
failed=0
pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=10 || failed=$?
wait "$types" || fail "mypy found errors (see above)"
exit "$failed"
