#!/usr/bin/env bash
# The action's check: the files that the patterns in FILES name, a pattern a line, as SARIF in the file $SARIF. For the steps
# behind it, $GITHUB_OUTPUT gets `sarif` (empty where nothing matches) and `status`, the command's. DETERMINACY is `true` or
# `false`, DENY a level or nothing, TARGET_ENV an environment of SPIR-V or nothing.
set -euo pipefail
shopt -s globstar nullglob
command="$("$(dirname "${BASH_SOURCE[0]}")/command.sh")"

files=()
while IFS= read -r pattern; do
    # Patterns are expanded, and not split at spaces.
    IFS=
    # shellcheck disable=SC2206
    files+=($pattern)
    unset IFS
done <<< "$FILES"

if [ ${#files[@]} = 0 ]; then
    echo "::notice title=roundonce::no file matches: ${FILES//$'\n'/, }"
    printf 'sarif=\nstatus=0\n' >> "$GITHUB_OUTPUT"
    exit
fi

# Machine code leaves no bits open, and the command refuses to look for such where there is nothing else.
may_be_open=false
for file in "${files[@]}"; do
    case "${file,,}" in *.sass | *.cubin) ;; *) may_be_open=true ;; esac
done
options=(--format sarif)
if [ "$DETERMINACY" = true ] && [ $may_be_open = true ]; then options+=(--determinacy); fi
[ -z "$DENY" ] || options+=(--deny "$DENY")
[ -z "$TARGET_ENV" ] || options+=(--target-env "$TARGET_ENV")
status=0
"$command" check "${options[@]}" -- "${files[@]}" > "$SARIF" || status=$?
# 2 and 3: what was asked cannot be read, or is not supported; the message is there already.
[ "$status" -le 1 ] || exit "$status"
printf 'sarif=%s\nstatus=%s\n' "$SARIF" "$status" >> "$GITHUB_OUTPUT"
# The log of the run has the findings for a person.
"$command" --color always check "${options[@]:2}" -- "${files[@]}" || true
