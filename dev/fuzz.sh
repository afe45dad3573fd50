#!/usr/bin/env bash
# Fuzzes every target, or those named, as many at a time as there are processors: a line each with its processor time,
# and a failing exit status if one crashed. What crashes is left in target/fuzz/TARGET/; what was found of use in target/fuzz/corpus/TARGET/.
#
#   dev/fuzz.sh [MINUTES_A_TARGET] [TARGET...]      (60 minutes by default)
#
# It needs no tool but cargo: the instrumentation is what `cargo fuzz build --sanitizer none` asks the compiler for, with
# debug assertions on. docs/nightly.md keeps the last result.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd fuzz/fuzz_targets && printf '%s\n' *.rs | sed 's/\.rs$//')
root="$PWD"
work="${CARGO_TARGET_DIR:-$root/target}/fuzz"
host=$(rustc -vV | sed -n 's/^host: //p')
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
 -Cllvm-args=-sanitizer-coverage-trace-compares"
# Not all programs there are targets: what makes no use of libFuzzer does not link with its instrumentation.
RUSTC_BOOTSTRAP=1 RUSTFLAGS="--cfg fuzzing $(echo $coverage) -Cdebug-assertions" CARGO_TARGET_DIR="$work/build" \
    cargo build --quiet --release "${targets[@]/#/--bin=}" --target "$host" --manifest-path fuzz/Cargo.toml

fuzz() {
    target=$1
    mkdir -p "$work/$target" "$work/corpus/$target"
    seeds=()
    [ ! -d "$root/fuzz/corpus/$target" ] || seeds+=("$root/fuzz/corpus/$target")
    # What earlier runs found, each input once: `-merge=1` made it.
    if [ -f "$root/fuzz/corpus/$target.tar.gz" ]; then
        mkdir -p "$work/kept/$target"
        tar -xzf "$root/fuzz/corpus/$target.tar.gz" -C "$work/kept/$target"
        seeds+=("$work/kept/$target")
    fi
    log="$work/$target/log"
    TIMEFORMAT='%U'
    # The timeout is of the clock: a busy machine takes minutes for what is seconds of its own.
    seconds=$({ time (cd "$work/$target" && "$work/build/$host/release/$target" "$work/corpus/$target" "${seeds[@]}" \
        -max_total_time=$((minutes * 60)) -timeout=600 -rss_limit_mb=4096 > "$log" 2>&1); } 2>&1)
    status=ok
    grep -aq '^Done' "$log" || status=CRASHED
    runs=$(grep -ao '^#[0-9]*' "$log" | tail -1)
    echo "$target: $status, ${runs#\#} runs in $minutes minutes, $seconds s of processor time"
    [ "$status" = ok ]
}
export -f fuzz
export root work host minutes
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'fuzz {}'
