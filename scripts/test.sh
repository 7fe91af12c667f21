#!/usr/bin/env bash
# All checks and tests: style, types, import directions, then pytest. Arguments go to pytest.
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
# Beside the first tests, which wait for a server to start.
mypy &
types=$!
# Two at a time, a file's tests together: many of them wait for a process or a server. Each computes
# on one core: threads of several processes on the same cores hold each other up.
export OMP_NUM_THREADS=1
failed=0
pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=10 || failed=$?
wait "$types" || fail "mypy found errors (see above)"
exit "$failed"
