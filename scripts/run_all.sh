#!/usr/bin/env bash
# The main job: install missing packages, then `contested run all` with the given options.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
prepare_environment
exec contested run all "$@"
