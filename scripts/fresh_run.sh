#!/usr/bin/env bash
# The main job on one record of each experiment, as on a new machine; then with every answer there.
#
#   scripts/fresh_run.sh [DIR]
#
# DIR (default: a temporary folder, removed at the end) gets a home and an environment of its own, with
# the runtime lock alone: one that tests made would hide what the lock lacks. Once that is installed,
# the job runs in a network namespace that has nothing but loopback, where that is permitted. It fails
# unless both runs end well, the first starts one server, the second none, and none is left.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"

wrong() {
  echo "fresh run: $*" >&2
  exit 1
}

if [ $# -gt 0 ]; then
  mkdir -p "$1"
  folder=$(cd "$1" && pwd)
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
export CONTESTED_VENV=$folder/venv CONTESTED_HOME=$folder/contested
rm -rf "$CONTESTED_HOME" "$folder/results"

main_job() {
  local began=$SECONDS
  "${alone[@]}" "$ROOT/scripts/run_all.sh" --limit 1 --out "$folder/results" 2>&1 |
    tee "$folder/$1.log"
  echo "fresh run: the $1 main job took $((SECONDS - began)) s"
}

starts() {
  grep -c ': starting$' "$folder/$1.log" || true
}

# Processes of the job: servers, and those that hold them.
left() {
  env -u CONTESTED_HOME grep -lzsx "CONTESTED_HOME=$CONTESTED_HOME" /proc/[0-9]*/environ || true
}

prepare_environment
export HOME=$folder
echo "fresh run: the installation took $SECONDS s"
alone=()
if unshare --user --map-root-user --net true 2>/dev/null; then
  alone=(unshare --user --map-root-user --net "$VENV/bin/python" "$ROOT/scripts/alone.py")
else
  echo "fresh run: network namespaces are not permitted here, so the job runs with the network"
fi
contested doctor | grep -E '^(machine|CPU)' || true

main_job first
[ "$(starts first)" = 1 ] || wrong "the main job started $(starts first) servers in place of one"
for name in conflictscore conflict-detection.tagger conflict-detection.model-choice conrag.claims \
  madam-rag.ramdocs conflicts.smollm2-135m-instruct report-writing.smollm2-135m-instruct \
  truthfulqa.smollm2-135m-instruct npov.smollm2-135m-instruct; do
  [ -s "$folder/results/$name.jsonl" ] || wrong "there is no result in $name.jsonl"
done
[ -s "$folder/results/report.html" ] || wrong "there is no report"
[ -z "$(left)" ] || wrong "processes are left: $(left)"

main_job second
[ "$(starts second)" = 0 ] || wrong "a model was asked again although every answer was there"
grep -q 'no model was asked' "$folder/second.log" || wrong "the second run does not say it asked none"
[ -z "$(left)" ] || wrong "processes are left: $(left)"
