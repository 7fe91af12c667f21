#!/usr/bin/env bash
# Runs a command with the key that lies in the secret's file, which no `docker inspect` shows.
set -euo pipefail
file=${CONTESTED_API_KEY_FILE:-/run/secrets/api_key}
if [ -e "$file" ]; then
  CONTESTED_API_KEY=$(cat "$file") || {
    echo "contested: user $(id -u) may not read the key; give CONTESTED_USER the file's owner" >&2
    exit 2
  }
  export CONTESTED_API_KEY
fi
exec "$@"
