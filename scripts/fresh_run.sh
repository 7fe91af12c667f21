#!/usr/bin/env bash
# Run the main job on one record per experiment, as on a new machine; then again from the cache.
#
#   scripts/fresh_run.sh [DIR]
#
# DIR (default: a temporary folder, removed at the end) gets a new home folder and environment with the
# runtime lock only: the tests' environment would hide packages missing from the lock. After
# installation, the job runs in a network namespace with only a loopback interface, if permitted. It
# fails unless both runs succeed, the first starts one server and the second none, and none is left.
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

# Processes of the job: servers and their parents.
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
