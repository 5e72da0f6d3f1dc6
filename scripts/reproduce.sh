#!/usr/bin/env bash
# Measures the data of the tables and charts, topic by topic, in data/CARD (data/h200 for an H200), and makes from the
# CSVs of all cards every image in img/ and every table in README.md and docs/.
# Without a GPU it makes only the measurements of the CPU, in build/reproduced, and lists the rest.
#   scripts/reproduce.sh [--only TOPIC,TOPIC] [--resume] [--program FILE] [--folder FOLDER]
#   scripts/reproduce.sh --list          the topics, with the files that each makes
# A topic replaces its files when all of it has been measured; until then the new ones are in FOLDER/unfinished. If a
# command has a time limit: --only runs some of the topics, and --resume keeps the program's rows of this card and
# commit, those of an unfinished topic too, and measures the rest. --program uses an existing program, with the examples
# in ../examples. --folder puts the CSVs elsewhere: those of four H200 are in data/h200_x4.
set -euo pipefail
cd "$(dirname "$0")/.."

# The files of each topic and, if known, its time on an H200.
declare -A files=(
    [sweep]=sweep.csv                                # 182 s
    [kept_fractions]=kept_fractions.csv              # 13 s
    [segments]="segmented_scans.csv segmented_sorts.csv"
    [runs]=runs.csv
    [selection]="flagged.csv top_k.csv"
    [distributions]=distributions.csv                # 16 s
    [block_sizes]=block_sizes.csv                    # 2 s
    [histograms]="histograms.csv multi_partitions.csv"
    [row_sums]="row_sums.csv row_sum_study.csv"      # 20 s
    [utf8]=utf8.csv                                  # 69 s
    [frames]=frames.csv
    [report]=report_2pow20.txt                       # 5 s
    [distributed]=distributed.csv
    [pages]="README.md docs/*.md img/*.svg"
)
order=(sweep kept_fractions segments runs selection distributions block_sizes histograms row_sums utf8 frames report
    distributed pages)
of_cpu=" sweep report "  # topics that include CPU variants

# measure FILE [options of the program]
measure() {
    local file=$1
    shift
    "$program" --no-color --csv "$unfinished/$file" "${resume[@]}" "$@" | tail -n 1 >&2
}

# The peers from CCCL: those of the toolkit and, if the program has them, of the newest release.
peers() {
    local name=$1
    echo "$name$("$program" --list --op scan | sed -n "s/^scan  *\($name-latest\) .*/,\1/p")"
}

# All variants, at sizes from launch latency to DRAM bandwidth. CPU sorts only at sizes where they take seconds at most.
# With fewer than six trials the noise would be unknown.
sweep() {
    local gpu=naive,efficient,efficient-optimized,shared-conflicts,shared,single-pass,single-pass-tickets
    gpu+=,single-pass-reproducible,radix-split,radix,$(peers thrust),$cub
    measure sweep.csv --sweep 2^8:2^28,npot --op scan,compact --variant cpu,cpu-scan,cpu-parallel --trials 7
    measure sweep.csv --sweep 2^8:2^24,npot --op sort --variant cpu,cpu-parallel --trials 7
    measure sweep.csv --sweep 2^8:2^28,npot --op scan,compact,sort --variant "$gpu"
}

kept_fractions() {
    measure kept_fractions.csv --size 2^28 --op compact --variant single-pass,"$cub" \
        --input kept:0,kept:0.001,kept:0.25,kept:0.5,kept:0.75,kept:1
}

# Segments from one element to the whole array.
segments() {
    local ours=single-pass,single-pass-offsets
    measure segmented_scans.csv --sweep 2^10:2^28:x4,npot --op segmented-scan --variant $ours,"$cub"
    measure segmented_scans.csv --size 2^28 --op segmented-scan --variant $ours,"$cub" \
        --input segments:1,segments:10,segments:1000,segments:100000,segments:10000000,zeros
    measure segmented_sorts.csv --sweep 2^10:2^28:x4,npot --op segmented-sort --variant adaptive,"$cub"
    measure segmented_sorts.csv --size 2^26 --op segmented-sort --variant adaptive,"$cub" \
        --input segments:2,segments:16,segments:50,segments:300,segments:2000,segments:100000
}

runs() {
    local operations=unique,run-length,reduce-by-key
    measure runs.csv --sweep 2^8:2^28:x4,npot --op "$operations" --variant single-pass,"$cub"
    measure runs.csv --size 2^28 --op "$operations" --variant single-pass,"$cub" \
        --input runs:1,runs:2,runs:4,runs:100,runs:10000,zeros
}

# Records of 16 bytes that are kept by a flag of one byte each. The smallest n / 1024 keys, and many equal ones.
selection() {
    measure flagged.csv --sweep 2^10:2^26:x4,npot --op compact-flagged --variant single-pass,"$cub"
    measure flagged.csv --size 2^26 --op compact-flagged --variant single-pass,"$cub" \
        --input kept:0.001,kept:0.01,kept:0.1,kept:0.25,kept:0.5,kept:1
    measure top_k.csv --sweep 2^10:2^28,npot --op top-k --variant radix,"$cub"
    measure top_k.csv --size 2^28 --op top-k --variant radix,"$cub" --input zeros,mod:100,and:3,ascending,descending
}

distributions() {
    measure distributions.csv --sweep 2^24,2^28 --op sort --variant radix,"$cub" \
        --input uniform,and:2,and:3,and:4,and:5,and:6,mod:100,ascending,descending,ones
}

block_sizes() {
    measure block_sizes.csv --sweep 2^20,2^24 --op scan --block-size 64,128,256,512,1024 \
        --variant naive,efficient,efficient-optimized,shared-conflicts,shared
}

# Few bins and many: elements in all bins equally often, in one bin, half of them in one bin.
histograms() {
    measure histograms.csv --sweep 2^10:2^28:x4,npot --op histogram,histogram-wide --variant shared,"$cub"
    measure histograms.csv --size 2^28 --op histogram,histogram-wide --variant shared,"$cub" --input zeros,kept:0.5
    measure histograms.csv --size 2^28 --op histogram-wide --variant shared,"$cub" --input mod:256,mod:4096
    measure multi_partitions.csv --sweep 2^10:2^28:x4,npot --op multi-partition --variant radix,"$cub"
    measure multi_partitions.csv --size 2^28 --op multi-partition --variant radix,"$cub" --input zeros,and:3
}

row_sums() {
    local shapes=3000x2048,3000x2047,24000x2048,24000x2047,262144x2048,2^22x128,2^24x32,2^26x7,2^28x1,64x2^22
    shapes+=,7x38347922,1x2^28
    measure row_sums.csv --op row-sum --type float --shape "$shapes" --variant adaptive,"$cub",cublas
    measure row_sum_study.csv --op row-sum --type float --shape 24000x2048
}

# A GiB of input text: 2^30 bytes of UTF-8, 2^29 elements of UTF-16 or 2^28 of UTF-32.
utf8() {
    local texts=ascii,cyrillic,cjk,emoji,mixed,ill-formed:10
    measure utf8.csv --size 2^30 --op utf8-to-utf32,utf8-to-utf16,utf8-validate --variant single-pass --input "$texts"
    measure utf8.csv --size 2^28 --op utf32-to-utf8 --variant single-pass --input "$texts"
    measure utf8.csv --size 2^29 --op utf16-to-utf8 --variant single-pass --input "$texts"
}

# Both loops of the path tracer, which fails if its two images differ. The program only tells card and commit.
frames() {
    local tracer card size
    tracer=$(dirname "$program")/../examples/ray_compaction
    card=$("$program" --no-color --op scan --variant single-pass --size 1 --csv - | sed -n 2p | cut -d , -f 1-5)
    echo gpu,compute_capability,driver,toolkit,commit,width,height,loop,median_us,min_us,max_us,verified \
        >"$unfinished/frames.csv"
    for size in 256,256 640,480 1280,1024; do
        "$tracer" --width "${size%,*}" --height "${size#*,}" | awk -v begin="$card,$size" '
            /^loop (of the host|in a graph) / {
                printf "%s,%s,%.0f,%.0f,%.0f,true\n", begin, $2 == "of" ? "host" : "graph",
                       1000 * $(NF - 3), 1000 * $(NF - 2), 1000 * $(NF - 1)
                ++loops
            }
            END { exit loops != 2 }' >>"$unfinished/frames.csv"
    done
}

report() {
    "$program" --no-color --size "$((1 << 20)),$(((1 << 20) - 3))" >"$unfinished/report_2pow20.txt"
}

# What docs/distributed.md models: as many elements on each GPU and as many in all, small arrays, partitions and text.
# One GPU is measured with the parts that each of several has.
distributed() {
    local gpus all texts=utf8-to-utf32,utf8-to-utf16,utf8-validate,utf32-to-utf8,utf16-to-utf8
    measure distributed.csv --sweep 2^13:2^30 --op scan,compact,sort --variant single-pass,radix
    measure distributed.csv --sweep 2^25:2^30 --op sort-pairs --variant radix
    measure distributed.csv --sweep 2^13:2^16,2^25:2^28 --op partition --variant single-pass-apart
    measure distributed.csv --sweep 2^13:2^16,2^25:2^28 --op "$texts" --variant single-pass
    all=$(nvidia-smi -L 2>/dev/null | wc -l)
    for ((gpus = 2; gpus <= all; gpus *= 2)); do
        measure distributed.csv --gpus "$gpus" --size "2^16,2^20,2^24,2^25,2^28,2^29,2^30,$((gpus << 28))" \
            --op scan,compact,sort --variant distributed
        measure distributed.csv --gpus "$gpus" --size "2^28,$((gpus << 28))" --op sort-pairs --variant distributed
        measure distributed.csv --gpus "$gpus" --size 2^16,2^28 --op partition,"$texts" --variant distributed
    done
}

# Needs all the files.
pages() {
    if [ -z "$no_gpu" ]; then
        "$python" scripts/update_figures.py
        "$python" tools/explore/illustrate.py
        "$python" scripts/plot.py
    fi
    "$python" scripts/plot.py --html build/report.html
}

topics=()
resume=()
program=
folder=
while [ $# -gt 0 ]; do
    case $1 in
        --list)
            for topic in "${order[@]}"; do printf '%-16s %s\n' "$topic" "${files[$topic]}"; done
            exit ;;
        --only) IFS=, read -ra topics <<<"${2:?--only: expected topics}"; shift 2 ;;
        --resume) resume=(--resume); shift ;;
        --program) program=$(realpath "${2:?--program: expected a file}"); shift 2 ;;
        --folder) folder=${2:?--folder: expected a folder}; shift 2 ;;
        *) echo "reproduce.sh: unknown option $1; the first lines of the script say which there are" >&2; exit 2 ;;
    esac
done
[ ${#topics[@]} -gt 0 ] || topics=("${order[@]}")
for topic in "${topics[@]}"; do
    [ -n "${files[$topic]:-}" ] || { echo "reproduce.sh: there is no topic '$topic'; --list names them" >&2; exit 2; }
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
        cmake --build --preset release --target ray_compaction >>build/release.log 2>&1 ||
            die "the build failed; see build/release.log"
    fi
    program=$PWD/build/release/bin/stream_compaction_test
fi

gpu=$("$program" --no-color --size 1 --op scan --variant cpu | sed -n 's/^GPU  *//p')
no_gpu=$(sed -n 's/^none: //p' <<<"$gpu")
# `h100` for `NVIDIA H100 80GB HBM3, compute capability 9.0, ...`
card=$(sed 's/,.*//; s/^NVIDIA //; s/^GeForce //; s/ [0-9]*GB.*//; s/ /-/g' <<<"$gpu" | tr '[:upper:]' '[:lower:]')
if [ -n "$no_gpu" ]; then
    folder=${folder:-build/reproduced}
    echo "No GPU, $no_gpu: data/, img/, README.md and docs/ stay as they are; what the CPU can do is in $folder." >&2
fi
folder=${folder:-data/$card}
unfinished=$folder/unfinished
cub=$(peers cub)

left_out=()
trap '[ $? -eq 0 ] || echo "reproduce.sh: $topic is not finished; what was measured of it is in $unfinished" >&2' EXIT
for topic in "${topics[@]}"; do
    if [ "$topic" = pages ]; then
        pages
        continue
    elif [ -n "$no_gpu" ] && [[ $of_cpu != *" $topic "* ]]; then
        left_out+=("$topic")
        continue
    fi
    mkdir -p "$unfinished"
    for file in ${files[$topic]}; do
        # Only the program can resume its own files.
        if [ ${#resume[@]} -eq 0 ] || [[ $topic = @(frames|report) ]]; then
            rm -f "$unfinished/$file"
        elif [ ! -e "$unfinished/$file" ] && [ -e "$folder/$file" ]; then
            cp "$folder/$file" "$unfinished"
        fi
    done
    SECONDS=0
    "$topic"
    for file in ${files[$topic]}; do
        mv "$unfinished/$file" "$folder"
    done
    rmdir --ignore-fail-on-non-empty "$unfinished"
    echo "$topic: $SECONDS s" >&2
done
[ ${#left_out[@]} -eq 0 ] || echo "Left out because they need a GPU: ${left_out[*]}" >&2
