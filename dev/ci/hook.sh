#!/usr/bin/env bash
# What the hooks of .pre-commit-hooks.yaml run: the command with the hook's arguments and the files.
set -euo pipefail
exec "$("$(dirname "${BASH_SOURCE[0]}")/command.sh")" "$@"
