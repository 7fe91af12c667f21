#!/usr/bin/env bash
# Installs the project from a bundle of scripts/fetch_models.sh, without a network.
#
#   scripts/install_offline.sh [BUNDLE] [--without-models]
#
# BUNDLE is by default the one that this copy of the project lies in. It is checked first, file by
# file; then the environment is made, the models are registered where they lie and `contested doctor`
# looks everything over. --without-models makes the environment alone. An interrupted call is
# repeated; CONTESTED_PYTHON, CONTESTED_VENV and CONTESTED_HOME count as always.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"

bundle=$(dirname "$ROOT")
models=with
for word in "$@"; do
  case $word in
    --without-models) models=without ;;
    -h | --help)
      sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
      exit
      ;;
    -*) fail "unknown option $word; see --help" ;;
    *) bundle=$word ;;
  esac
done
[ -d "$bundle" ] || fail "there is no folder $bundle; name the bundle"
bundle=$(cd "$bundle" && pwd)

find_python
found=$("$PYTHON" "$ROOT/scripts/bundle.py" check "$bundle" \
  $([ $models = with ] || echo --without-models))
# Nothing but the bundle counts: no index, no configuration of pip.
export CONTESTED_ENGINE=${found%% *} PIP_FIND_LINKS=${found#* } PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null
unset CONTESTED_TORCH_INDEX PIP_CONSTRAINT
prepare_environment
[ $models = with ] || exit 0
exec "$VENV/bin/python" "$ROOT/scripts/bundle.py" register "$bundle"
