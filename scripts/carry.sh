#!/usr/bin/env bash
# Fills a folder from which scripts/install_offline.sh installs on a machine without a network.
#
#   scripts/carry.sh FOLDER [--profile NAME]
#
# FOLDER gets the project as last committed, a wheel of every package in its lock and, for cpu-0.5b and
# cpu-1.5b, the packages of the profile's models. Put other models' folders into FOLDER/models before.
# CONTESTED_ENGINE=gpu takes the lock for GPUs, CONTESTED_PYTHON the Python that the other machine has.
# Repeat an interrupted call.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$ROOT/scripts/environment.sh"
case ${1:-} in
  "" | -*)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac
out=$1
shift
git -C "$ROOT" rev-parse --verify --quiet HEAD >/dev/null || fail "$ROOT is no git checkout; carry one"
engine=$(choose_engine)
find_python
mkdir -p "$out/wheels" "$out/models"
out=$(cd "$out" && pwd)
rm -rf "$out/contested" "$out/SHA256SUMS"
mkdir "$out/contested"
git -C "$ROOT" archive HEAD | tar -xf - -C "$out/contested"
lock=$out/contested/requirements/$engine.txt
[ -f "$lock" ] || fail "CONTESTED_ENGINE is '$engine'; it can be cpu or gpu"

# `pip wheel` builds packages that the index has only as source.
"$PYTHON" -m pip wheel -qq --disable-pip-version-check --no-deps -w "$out/wheels" -r "$lock" \
  ${CONTESTED_TORCH_INDEX:+--extra-index-url "$CONTESTED_TORCH_INDEX"} || fail \
  "pip could not bring all packages (see above);" \
  "if it is torch+cpu, name PyTorch's CPU index in CONTESTED_TORCH_INDEX"
[ $# -eq 0 ] || bash "$ROOT/scripts/fetch_models.sh" "$@" --to "$out/models"

"$PYTHON" -c 'import sys; print(sys.argv[1], "%d.%d" % sys.version_info[:2])' "$engine" >"$out/MADE_FOR"
(cd "$out" && find . -type f ! -name .sums -print0 | sort -z | xargs -0 sha256sum >.sums && mv .sums SHA256SUMS)
echo "$out: $(du -sh "$out" | cut -f1); $(cd "$out" && sha256sum SHA256SUMS)"
echo "Copy the folder to the machine's disk, then run in it: bash contested/scripts/install_offline.sh"
