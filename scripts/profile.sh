#!/usr/bin/env bash
# Runs Nsight Compute on one variant, prints why its kernels wait, and keeps the report for the GUI.
#   scripts/profile.sh OPERATION/VARIANT [N or ROWSxCOLUMNS [options of the program]]
#   scripts/profile.sh scan/naive 2^24
#   scripts/profile.sh row-sum/adaptive 24000x2048 --type float
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
    echo "profile.sh: $*" >&2
    exit 2
}

[[ ${1:-} = */* ]] || die "expected OPERATION/VARIANT, for example scan/naive; scripts/run.sh --list names them"
operation=${1%%/*}
variant=${1#*/}
# `TopK` for `top-k`
name=$(sed -E 's/(^|-)(.)/\U\2/g' <<<"$operation")
grep -qE "^    (gpus?|latest)\(.*\bOperation::$name, \"$variant\"," src/variants/variants.cpp ||
    die "there is no variant $variant of $operation on the GPU; scripts/run.sh --list names them"
size=${2:-2^24}
[[ $size = *[0-9]x* ]] && extent=--shape || extent=--sweep
program=${PROGRAM:-build/release/bin/stream_compaction_test}
[ -x "$program" ] || die "$program is missing: scripts/run.sh builds it"
command -v ncu >/dev/null || die "ncu is missing: it comes with the CUDA toolkit (Nsight Compute)"
no_gpu=$("$program" --no-color --size 1 --op scan --variant cpu | sed -n 's/^GPU  *none: //p')
[ -z "$no_gpu" ] || die "no GPU: $no_gpu"

mkdir -p build/profiles
report=build/profiles/$operation-$variant-${size//^/pow}.ncu-rep
scripts/profile.py --program "$program" --report "$report" -- \
    --op "$operation" --variant "$variant" "$extent" "$size" "${@:3}"
echo "For the GUI: ncu-ui $report"
