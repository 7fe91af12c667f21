#!/usr/bin/env bash
# The main job: install what is missing, then `contested run all`, which takes the options.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
prepare_environment
exec contested run all "$@"
