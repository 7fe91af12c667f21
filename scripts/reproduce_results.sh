#!/usr/bin/env bash
# Run every experiment of docs/results.md in turn. See --help.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
prepare_environment
exec python "$ROOT/scripts/reproduce_results.py" "$@"
