#!/usr/bin/env bash
# All checks and tests: style, types, import layers, then pytest. Arguments are passed to pytest.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
prepare_environment dev

cd "$ROOT"
ruff check .
ruff format --check --quiet .
imports_and_types() { lint-imports --no-cache && mypy; }
if [ $# -gt 0 ]; then
  imports_and_types
  exec pytest "$@"
fi
# In parallel with the first tests, which wait for a server to start.
imports_and_types &
checking=$!
# Two workers, one file at a time each: many tests wait for a process or a server. Each worker uses
# one core, because threads of several processes slow each other down on shared cores.
export OMP_NUM_THREADS=1
failed=0
pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=10 || failed=$?
wait "$checking" || fail "import layers or types are wrong (see above)"
exit "$failed"
