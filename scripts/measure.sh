#!/usr/bin/env bash
# Measures the data of the tables and charts, topic by topic, into CSVs.
#   scripts/measure.sh --list
#   scripts/measure.sh [--resume] FOLDER PROGRAM [TOPIC...]
# A topic replaces its files when all of it has been measured; until then the new ones are in FOLDER/unfinished. With
# --resume it keeps the program's rows of this card and commit, those of an unfinished topic too, and measures the rest.
# What stands out in a sweep is measured again (outliers.py).
# tune must be beside the program, and the newest peers are measured if the program has them (--all-peers of
# scripts/run.sh). scripts/reproduce.sh runs all topics and also draws the charts.
set -euo pipefail
scripts=$(cd "$(dirname "$0")" && pwd)

# The files of each topic and, if known, its time on an H200.
declare -A files=(
    [sweep]=sweep.csv                                # 182 s
    [types]=types.csv                                # 18 s
    [kept_fractions]=kept_fractions.csv              # 13 s
    [partitions]=partitions.csv                      # 6 s
    [segments]="segmented_scans.csv segmented_sorts.csv"
    [runs]=runs.csv
    [selection]="flagged.csv top_k.csv"
    [orders]=orders.csv                              # 8 s
    [sorts]="sorts.csv small_sorts.csv"
    [distributions]=distributions.csv                # 16 s
    [block_sizes]=block_sizes.csv                    # 2 s
    [histograms]="histograms.csv multi_partitions.csv"
    [row_sums]="row_sums.csv row_sum_types.csv"      # 24 s
    [row_sum_study]=row_sum_study.csv                # 8 s
    [utf8]=utf8.csv                                  # 69 s
    [utf8_small]=utf8_small.csv                      # 1 s
    [utf8_variants]=utf8_variants.csv                # 34 s
    [reports]="report_2pow12.txt report_2pow20.txt"  # 10 s
    [two_cores]=two_cores.csv                        # 13 s
    [out_of_core]=out_of_core.csv
    [distributed]=distributed.csv
    [exchange]=exchange.csv
    [profiles]=profile.csv                           # 73 s
    [operation_profiles]=operation_profile.csv
    [row_sum_profiles]=row_sum_profile.csv           # 36 s
    [tune]=tune.csv                                  # 5 s
    [tune_sorts]=tune_sorts.csv                      # 5 s
    [tune_row_sums]=tune_row_sums.csv                # 6 s
    [device_counts]=device_counts.csv
    [frames]=frames.csv
)
order=(sweep types kept_fractions partitions segments runs selection orders sorts distributions block_sizes
    histograms row_sums row_sum_study utf8 utf8_small utf8_variants reports two_cores out_of_core distributed exchange
    profiles operation_profiles row_sum_profiles tune tune_sorts tune_row_sums device_counts frames)

# measure FILE [options of the program]. If `cores` is set, only on those cores.
measure() {
    local file=$1
    shift
    ${cores:+taskset -c "$cores"} "$program" --no-color --csv "$folder/$file" "${resume[@]}" "$@" | tail -n 1 >&2
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
    gpu+=,single-pass-reproducible,radix-split,radix,$thrust,$cub
    measure sweep.csv --sweep 2^8:2^28,npot --op scan,compact --variant cpu,cpu-scan,cpu-parallel --trials 7
    measure sweep.csv --sweep 2^8:2^24,npot --op sort --variant cpu,cpu-parallel --trials 7
    measure sweep.csv --sweep 2^8:2^28,npot --op scan,compact,sort --variant "$gpu"
}

types() {
    measure types.csv --size 2^28 --op scan --variant single-pass,"$cub" --type int8,int64,float,double
    measure types.csv --size 2^28 --op compact --variant single-pass,"$cub" --type int8,int64
}

kept_fractions() {
    measure kept_fractions.csv --size 2^28 --op compact --variant single-pass,"$cub" \
        --input kept:0,kept:0.001,kept:0.25,kept:0.5,kept:0.75,kept:1
    measure kept_fractions.csv --size 2^24 --op compact --variant single-pass,"$cub" --input kept:0.5
}

partitions() {
    measure partitions.csv --sweep 2^18:2^22,2^24,2^28,npot --op partition --variant single-pass,single-pass-apart,"$cub"
}

# Segments from one element to the whole array.
segments() {
    local ours=single-pass,single-pass-offsets
    measure segmented_scans.csv --sweep 2^10:2^28:x4,npot --op segmented-scan --variant $ours,"$cub"
    measure segmented_scans.csv --size 2^28 --op segmented-scan --variant $ours,"$cub" \
        --input segments:1,segments:10,segments:1000,segments:100000,segments:10000000,zeros
    measure segmented_scans.csv --size 2^27 --op segmented-scan --variant $ours,"$cub" --type int64
    measure segmented_sorts.csv --sweep 2^10:2^28:x4,npot --op segmented-sort --variant adaptive,"$cub"
    measure segmented_sorts.csv --size 2^26 --op segmented-sort --variant adaptive,"$cub" \
        --input segments:2,segments:16,segments:50,segments:300,segments:2000,segments:100000
    measure segmented_sorts.csv --size 2^26 --op segmented-sort --variant adaptive,"$cub" --type int64
}

runs() {
    local operations=unique,run-length,reduce-by-key
    measure runs.csv --sweep 2^8:2^28:x4,npot --op "$operations" --variant single-pass,"$cub"
    measure runs.csv --size 2^28 --op "$operations" --variant single-pass,"$cub" \
        --input runs:1,runs:2,runs:4,runs:100,runs:10000,zeros
    measure runs.csv --size 2^27 --op "$operations" --variant single-pass,"$cub" --type int64
}

# Records of 16 bytes that are kept by a flag of one byte each. The smallest n / 1024 keys, and many equal ones.
selection() {
    measure flagged.csv --sweep 2^10:2^26:x4,npot --op compact-flagged --variant single-pass,"$cub"
    measure flagged.csv --size 2^26 --op compact-flagged --variant single-pass,"$cub" \
        --input kept:0.001,kept:0.01,kept:0.1,kept:0.25,kept:0.5,kept:1
    measure top_k.csv --sweep 2^10:2^28,npot --op top-k --variant radix,"$cub"
    measure top_k.csv --size 2^28 --op top-k --variant radix,"$cub" --type float
    measure top_k.csv --size 2^28 --op top-k --variant radix,"$cub" --input zeros,mod:100,and:3,ascending,descending
}

orders() {
    measure orders.csv --sweep 2^20,2^24,2^28,npot --op scan --type int32,float \
        --variant single-pass,single-pass-tickets,single-pass-reproducible,"$cub"
}

sorts() {
    measure sorts.csv --sweep 2^8:2^24,2^26,2^28,npot --op sort --variant radix,"$cub"
    measure sorts.csv --sweep 2^20,2^24,2^26,2^28,npot --op sort-pairs --variant radix,"$cub"
    measure sorts.csv --size 2^28 --op sort --variant radix,"$cub" --input mod:100,and:3,ascending,zeros
    measure sorts.csv --size 2^27 --op sort --variant radix,"$cub" --type int64
    measure sorts.csv --size 2^28 --op sort --variant radix,"$cub" --type int8,float
    measure sorts.csv --size 2^26 --op sort-pairs --variant radix,"$cub" --type int64
    measure small_sorts.csv --sweep 2^10:2^22:x4 --op sort,sort-pairs --variant radix,"$cub" \
        --input uniform,and:2,and:4,mod:100,ascending
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
    measure histograms.csv --sweep 2^10:2^28:x4,npot --op histogram,histogram-wide --type int8,int32 \
        --variant shared,"$cub"
    measure histograms.csv --size 2^28 --op histogram,histogram-wide --type int8,int32 --variant shared,"$cub" \
        --input zeros,kept:0.5
    measure histograms.csv --size 2^28 --op histogram-wide --variant shared,"$cub" --input mod:256,mod:4096
    measure multi_partitions.csv --sweep 2^10:2^28:x4,npot --op multi-partition --variant radix,"$cub"
    measure multi_partitions.csv --size 2^28 --op multi-partition --variant radix,"$cub" --input zeros,and:3
}

row_sums() {
    local shapes=3000x2048,3000x2047,24000x2048,24000x2047,262144x2048,2^22x128,2^24x32,2^26x7,2^28x1,64x2^22
    shapes+=,7x38347922,1x2^28
    measure row_sums.csv --op row-sum --type float --shape "$shapes" --variant adaptive,"$cub",cublas
    measure row_sum_types.csv --op row-sum --type int8,int32,int64,double --shape 3000x2048,2^18x1024,2^24x7,64x2^21 \
        --variant adaptive,"$cub",cublas
}

row_sum_study() {
    measure row_sum_study.csv --op row-sum --type float --shape 3000x2048,3000x2047,24000x2048,24000x2047
}

# A GiB of input text: 2^30 bytes of UTF-8, 2^29 elements of UTF-16 or 2^28 of UTF-32.
utf8() {
    local texts=ascii,cyrillic,cjk,emoji,mixed,ill-formed:10
    measure utf8.csv --size 2^30 --op utf8-to-utf32,utf8-to-utf16,utf8-validate --variant single-pass --input "$texts"
    measure utf8.csv --size 2^28 --op utf32-to-utf8 --variant single-pass --input "$texts"
    measure utf8.csv --size 2^29 --op utf16-to-utf8 --variant single-pass --input "$texts"
}

utf8_small() {
    measure utf8_small.csv --sweep 2^10:2^16,npot --variant single-pass --input mixed \
        --op utf8-to-utf32,utf8-to-utf16,utf8-validate,utf32-to-utf8,utf16-to-utf8
}

utf8_variants() {
    measure utf8_variants.csv --size 2^24 --input mixed \
        --op utf8-to-utf32,utf8-to-utf16,utf8-validate,utf32-to-utf8,utf16-to-utf8
    # Over the bus, with enough text for copies to overlap.
    measure utf8_variants.csv --size 2^28 --input mixed --op utf8-to-utf32 --variant single-pass-from-host
}

reports() {
    for k in 12 20; do
        "$program" --no-color --size "$((1 << k)),$(((1 << k) - 3))" >"$folder/report_2pow$k.txt"
    done
}

# The CPU variants on two cores; taskset exists only on Linux.
two_cores() {
    for k in 22 26; do
        cores=0,1 measure two_cores.csv --size "2^$k" --op scan,compact --variant cpu,cpu-parallel
    done
}

# On all GPUs that there are, in powers of two.
gpu_counts() {
    local count all
    all=$(nvidia-smi -L 2>/dev/null | wc -l)
    for ((count = 1; count <= all; count *= 2)); do
        echo "$count"
    done
}

# Arrays in host memory, larger than what the card may use of its own, and one that fits. Machines with several GPUs have
# the memory for larger ones.
out_of_core() {
    local gpus
    for gpus in $(gpu_counts); do
        measure out_of_core.csv --gpus "$gpus" --gpu-memory 2^31 --size 2^30 --op scan,compact,sort \
            --variant out-of-core --trials 7 --time-budget 3s
        measure out_of_core.csv --gpus "$gpus" --size 2^28,2^30 --op scan,compact,sort --variant out-of-core \
            --trials 7 --time-budget 3s
    done
    gpus=$(gpu_counts | tail -n 1)
    [ "${gpus:-0}" -gt 1 ] || return 0
    for gpus in 1 2; do
        measure out_of_core.csv --gpus "$gpus" --size 2^32 --op sort --variant out-of-core --trials 3 --time-budget 10s
    done
    measure out_of_core.csv --size 2^33 --op scan,compact --variant out-of-core --trials 3 --time-budget 10s
    measure out_of_core.csv --gpu-memory 2^34 --size 2^33 --op sort --variant out-of-core --trials 3 --time-budget 10s
}

# Strong scaling, of up to 2^30 elements, and weak scaling, of 2^28 per GPU; small arrays; keys that are hard to divide;
# partitions and text. One GPU is measured with the parts that each of several has. distributed_peers.py measures other
# libraries.
distributed() {
    local gpus sizes=2^16,2^20,2^24,2^25,2^28,2^29,2^30 keys=zeros,ascending,descending,and:3,mod:100,zipf:1000000
    local texts=utf8-to-utf32,utf8-to-utf16,utf8-validate,utf32-to-utf8,utf16-to-utf8
    measure distributed.csv --sweep 2^13:2^30 --op scan,compact,sort --variant single-pass,radix
    measure distributed.csv --sweep 2^25:2^30 --op sort-pairs --variant radix
    measure distributed.csv --size 2^29,2^30 --op sort --variant radix --input "$keys"
    measure distributed.csv --sweep 2^13:2^16,2^25:2^28 --op partition --variant single-pass-apart
    measure distributed.csv --sweep 2^13:2^16,2^25:2^28 --op "$texts" --variant single-pass
    for gpus in $(gpu_counts); do
        [ "$gpus" -gt 1 ] || continue
        measure distributed.csv --gpus "$gpus" --size "$sizes,$((gpus << 28))" --op scan,compact,sort \
            --variant distributed,gather-to-one
        measure distributed.csv --gpus "$gpus" --size "2^28,$((gpus << 28))" --op sort-pairs --variant distributed
        measure distributed.csv --gpus "$gpus" --size "2^29,$((gpus << 28))" --op sort --variant distributed \
            --input "$keys"
        measure distributed.csv --gpus "$gpus" --size 2^16,2^28 --op partition,"$texts" --variant distributed
        measure distributed.csv --gpus "$gpus" --size $((gpus << 30)) --op scan,sort --variant distributed
    done
}

# What each GPU sends to the next, at the same time. One GPU has no file.
exchange() {
    [ "$(gpu_counts | wc -l)" -gt 1 ] || return 0
    try_shapes exchange.csv exchange
}

# Needs ncu from the CUDA toolkit.
profile() {
    local into=$1
    shift
    "$scripts/profile.py" --csv "$folder/$into" --program "$program" -- "$@" >&2
}

profiles() {
    local size=2^26
    # One variant at a time, because some share the names of their kernels.
    for variant in naive efficient efficient-optimized shared-conflicts shared thrust; do
        profile profile.csv --sweep "$size" --op scan --variant "$variant"
    done
    profile profile.csv --sweep "$size" --op scan --variant single-pass,cub
    profile profile.csv --sweep "$size" --op scan --variant single-pass --type int64
    profile profile.csv --sweep "$size" --op compact --variant single-pass,cub
    profile profile.csv --sweep "$size" --op compact --variant thrust
    profile profile.csv --sweep "$size" --op compact --variant single-pass --type int8
    profile profile.csv --sweep "$size" --op partition --variant single-pass
    profile profile.csv --sweep "$size" --op partition --variant single-pass-apart
    profile profile.csv --sweep "$size" --op sort --variant radix,cub
    profile profile.csv --sweep "$size" --op sort --variant radix --type int64
    profile profile.csv --sweep "$size" --op sort-pairs --variant radix,cub
    profile profile.csv --sweep "$size" --op sort-pairs --variant radix --type int64
}

# What stands around a compaction, and text.
operation_profiles() {
    local file=operation_profile.csv
    profile "$file" --sweep 2^26 --op compact-flagged --variant single-pass
    profile "$file" --sweep 2^26 --op segmented-scan --variant single-pass --type int64
    profile "$file" --sweep 2^22 --op top-k --variant radix,cub
    for input in mixed ill-formed:10; do
        profile "$file" --sweep 2^28 --op utf8-to-utf16 --variant single-pass --input "$input"
        profile "$file" --sweep 2^28 --op utf16-to-utf8 --variant single-pass --input "$input"
    done
}

row_sum_profiles() {
    for variant in block-per-row block-per-row-fixed ilp-2 ilp-3 ilp-5 ilp-10 shuffle vectors adaptive cub; do
        profile row_sum_profile.csv --op row-sum --type float --shape 24000x2048 --variant "$variant"
    done
    for shape in 2^22x128 2^26x7 1x2^28; do
        profile row_sum_profile.csv --op row-sum --type float --shape "$shape" --variant adaptive
    done
}

# All shapes of the kernels.
try_shapes() {
    "$(dirname "$program")/tune" "$folder/$1" "$2" >/dev/null
}

tune() {
    try_shapes tune.csv scan
    try_shapes tune.csv compact
}

tune_sorts() {
    try_shapes tune_sorts.csv sort
}

tune_row_sums() {
    try_shapes tune_row_sums.csv row-sum
}

device_counts() {
    try_shapes device_counts.csv counts
}

# The path tracer. Needs the examples beside the program's folder.
frames() {
    "$scripts/frames.py" "$folder/frames.csv" "$program" "$(dirname "$program")/../examples/ray_compaction"
}

if [ "${1:-}" = --list ]; then
    for topic in "${order[@]}"; do
        printf '%-16s %s\n' "$topic" "${files[$topic]}"
    done
    exit
fi
resume=()
if [ "${1:-}" = --resume ]; then
    resume=(--resume)
    shift
fi
finished=${1:?expected a folder for the files}
folder=$finished/unfinished
program=${2:?expected the program}
topics=("${@:3}")
[ ${#topics[@]} -gt 0 ] || topics=("${order[@]}")
for topic in "${topics[@]}"; do
    [ -n "${files[$topic]:-}" ] || { echo "measure.sh: there is no topic '$topic'; --list names them" >&2; exit 2; }
done
cub=$(peers cub)
thrust=$(peers thrust)
trap '[ $? -eq 0 ] || echo "measure.sh: $topic is not finished; what was measured of it is in $folder" >&2' EXIT
mkdir -p "$folder"
for topic in "${topics[@]}"; do
    for file in ${files[$topic]}; do
        # Only the program can resume its own files.
        if [ ${#resume[@]} -eq 0 ] || [[ $topic = @(exchange|*profiles|tune*|device_counts|frames) ]]; then
            rm -f "$folder/$file"
        elif [ ! -e "$folder/$file" ] && [ -e "$finished/$file" ]; then
            cp "$finished/$file" "$folder"
        fi
    done
    SECONDS=0
    "$topic"
    if [[ $topic = @(sweep|partitions|segments|runs|selection|orders|sorts|histograms|utf8_small) ]]; then
        for file in ${files[$topic]}; do
            cmp -s "$folder/$file" "$finished/$file" || "$scripts/outliers.py" "$folder/$file" "$program" >&2
        done
    fi
    for file in ${files[$topic]}; do
        [ "$topic" = exchange ] && [ ! -e "$folder/$file" ] || mv "$folder/$file" "$finished"
    done
    echo "$topic: $SECONDS s" >&2
done
rmdir --ignore-fail-on-non-empty "$folder"
