#!/usr/bin/env bash
# Regenerate the lock files in requirements/ from pyproject.toml with `uv pip compile`.
#
#   scripts/lock.sh [--upgrade] [OPTION OF UV...]
#
# Pinned versions are kept if they still fit; --upgrade takes the newest. Needs a package index.
# CONTESTED_TORCH_INDEX is an index with the CPU build of torch, as in environment.sh.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CONTESTED_PYTHON:-python3}" -m venv "$work/tools"
"$work/tools/bin/python" -m pip install -qq --disable-pip-version-check uv packaging
export PATH="$work/tools/bin:$PATH"
# uv ignores pip's settings.
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX=$PIP_INDEX_URL
[ -z "${PIP_EXTRA_INDEX_URL:-}" ] || export UV_INDEX=$PIP_EXTRA_INDEX_URL
options=()
for link in ${PIP_FIND_LINKS:-}; do options+=(--find-links "$link"); done
upgrade=
for word in "$@"; do
  if [ "$word" = --upgrade ]; then upgrade=yes; else options+=("$word"); fi
done
cpu_only=(${CONTESTED_TORCH_INDEX:+--extra-index-url "$CONTESTED_TORCH_INDEX"})

# Pins for Python 3.11 to 3.13 on x86-64 Linux, with a marker only if versions differ.
cat >"$work/plain.py" <<'END'
import sys
from packaging.requirements import Requirement

PYTHONS = ("3.11", "3.12", "3.13")
lines = {}
for line in sys.stdin:
    if not line.startswith("#"):
        pin = Requirement(line.strip())
        for python in PYTHONS:
            here = {"python_version": python, "python_full_version": f"{python}.0"}
            if pin.marker is None or pin.marker.evaluate(here):
                lines.setdefault(f"{pin.name}{pin.specifier}", []).append(python)
for pin, found in sorted(lines.items(), key=lambda each: each[0].split("==")):
    bounds = [f'python_version >= "{min(found)}"'] if min(found) != PYTHONS[0] else []
    bounds += [f'python_version <= "{max(found)}"'] if max(found) != PYTHONS[-1] else []
    print(pin + (f" ; {' and '.join(bounds)}" if bounds else ""))
END

cat >"$work/excluded.py" <<'END'
import sys, tomllib

for entry in tomllib.load(sys.stdin.buffer)["exception"]:
    if sys.argv[1] in entry["locks"]:
        print("\n".join(entry["requires"]))
END

# uv reads one wheel per package; the wheel of intel-openmp 2024.2.1 for this system requires more.
# tests/test_lock_files.py reports pins that are missing here or have another version.
echo "intel-cmplr-lib-ur==2024.2.1" >"$work/cpu.in"
# The CUDA compiler must match the minor version of torch's runtime headers.
printf '%s==13.0.*\n' nvidia-cuda-{nvcc,crt,cccl} nvidia-nvvm >"$work/gpu.in"

# resolve ENGINE KNOWN EXTRA...: pins of these extras; keeps versions in the file KNOWN.
resolve() {
  local engine=$1 known=$2 extra more=()
  shift 2
  for extra in "$engine" samples "$@"; do more+=(--extra "$extra"); done
  [ "$engine" = gpu ] || more+=(${cpu_only[@]+"${cpu_only[@]}"})
  python "$work/excluded.py" "$engine" <"$ROOT/requirements/exceptions.toml" >"$work/excluded"
  uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
    --index-strategy unsafe-best-match --excludes "$work/excluded" -o "$known" "${more[@]}" \
    ${options[@]+"${options[@]}"} "$ROOT/pyproject.toml" "$work/$engine.in" >/dev/null
  python "$work/plain.py" <"$known"
}

known() { # pins of a lock to keep; none with --upgrade
  [ -n "$upgrade" ] || grep -v '^#' "$ROOT/requirements/$1.txt" || true
}

write() { # NAME TITLE: write the lock from standard input
  {
    echo "# $2, pinned by scripts/lock.sh."
    echo "# Installed with --no-deps: what is left out on purpose, and why, stands in exceptions.toml."
    cat
  } >"$work/$1.lock"
}

known cpu >"$work/cpu"
resolve cpu "$work/cpu" >"$work/cpu.txt"
known gpu >"$work/gpu"
# Both engines use the same versions of shared packages.
[ -s "$work/gpu" ] || cp "$work/cpu.txt" "$work/gpu"
resolve gpu "$work/gpu" >"$work/gpu.txt"
{ cat "$work/cpu.txt" && known dev; } >"$work/dev"
resolve cpu "$work/dev" dev >"$work/all.txt"
awk -F'==' 'NR == FNR { cpu[$1]; next } !($1 in cpu)' "$work/cpu.txt" "$work/all.txt" >"$work/dev.txt"

write cpu "Everything a CPU machine needs" <"$work/cpu.txt"
write gpu "Everything a machine with NVIDIA GPUs needs" <"$work/gpu.txt"
write dev "What tests and checks need besides cpu.txt or gpu.txt" <"$work/dev.txt"
for name in cpu gpu dev; do mv "$work/$name.lock" "$ROOT/requirements/$name.txt"; done
grep -c == "$ROOT"/requirements/*.txt
