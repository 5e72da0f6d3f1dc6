#!/usr/bin/env bash
# Makes the CSVs of this machine's card anew, in data/CARD (data/h200 for an H200), and from the CSVs of all cards every
# image in img/ and every table in README.md and docs/.
# Without a GPU it makes only the measurements of the CPU, in build/reproduced or the folder in REPRODUCED, and lists
# the rest.
#   scripts/reproduce.sh [--only TOPIC,TOPIC] [--resume] [--program FILE]
#   scripts/reproduce.sh --list          the topics, with the files that each makes
# If a command has a time limit: --only runs some of the topics, and --resume continues where the last run stopped.
# --program uses an existing program, with tune beside it and the examples in ../examples.
set -euo pipefail
cd "$(dirname "$0")/.."

# Topics that include CPU variants.
of_cpu="sweep row_sum_study utf8_variants reports two_cores"

list() {
    scripts/measure.sh --list
    printf '%-16s %s\n' pages "README.md docs/*.md img/*"
}

# Steps that need all the files.
pages() {
    if [ -z "$no_gpu" ]; then
        "$python" scripts/update_figures.py
        "$python" scripts/illustrate.py
        "$python" scripts/plot.py
    elif [ -d "$folder" ]; then
        "$python" scripts/plot.py --data "$folder" --out "$folder"
    fi
    [ -d "$folder" ] || folder=data/h200 # nothing has been measured on this card
    "$python" scripts/plot.py --data "$folder" --html build/report.html
}

topics=()
resume=()
program=
while [ $# -gt 0 ]; do
    case $1 in
        --list) list; exit ;;
        --only) IFS=, read -ra topics <<<"${2:?--only: expected topics}"; shift 2 ;;
        --resume) resume=(--resume); shift ;;
        --program) program=$(realpath "${2:?--program: expected a file}"); shift 2 ;;
        *) echo "reproduce.sh: unknown option $1; the first lines of the script say which there are" >&2; exit 2 ;;
    esac
done
mapfile -t known < <(list | cut -d ' ' -f 1)
[ ${#topics[@]} -gt 0 ] || topics=("${known[@]}")
for topic in "${topics[@]}"; do
    [[ " ${known[*]} " = *" $topic "* ]] ||
        { echo "reproduce.sh: there is no topic '$topic'; --list names them" >&2; exit 2; }
done

python=python3
if [ -z "$program" ]; then
    source scripts/setup.sh
    install_packages libpng-dev
    find_python
    find_nccl
    target=stream_compaction_test
    add_peers
    build release -DSTREAM_COMPACTION_TESTS=OFF -DSTREAM_COMPACTION_EXAMPLES=ON
    if command -v nvcc >/dev/null; then
        cmake --build --preset release --target tune ray_compaction >>build/release.log 2>&1 ||
            die "the build failed; see build/release.log"
    fi
    program=$PWD/build/release/bin/stream_compaction_test
fi

gpu=$("$program" --no-color --size 1 --op scan --variant cpu | sed -n 's/^GPU  *//p')
no_gpu=$(sed -n 's/^none: //p' <<<"$gpu")
# `h100` for `NVIDIA H100 80GB HBM3, compute capability 9.0, ...`
card=$(sed 's/,.*//; s/^NVIDIA //; s/^GeForce //; s/ [0-9]*GB.*//; s/ /-/g' <<<"$gpu" | tr '[:upper:]' '[:lower:]')
folder=data/$card
if [ -n "$no_gpu" ]; then
    folder=${REPRODUCED:-build/reproduced}
    echo "No GPU, $no_gpu: data/, img/, README.md and docs/ stay as they are; what the CPU can do is in $folder." >&2
fi

measured=()
left_out=()
make_pages=
for topic in "${topics[@]}"; do
    if [ "$topic" = pages ]; then
        make_pages=yes
    elif [ -n "$no_gpu" ] && [[ " $of_cpu " != *" $topic "* ]]; then
        left_out+=("$topic")
    else
        measured+=("$topic")
    fi
done
[ ${#left_out[@]} -eq 0 ] || echo "Left out because they need a GPU: ${left_out[*]}" >&2
[ ${#measured[@]} -eq 0 ] || scripts/measure.sh "${resume[@]}" "$folder" "$program" "${measured[@]}"
if [ -n "$make_pages" ]; then
    pages
fi
