#!/usr/bin/env bash
# Measures on the card what the tables of the README and of docs/ are made of, a CSV a topic.
#   scripts/measure.sh FOLDER [PROGRAM [TOPIC...]]
set -euo pipefail
folder=${1:?expected a folder for the CSVs}
program=${2:-build/release/bin/stream_compaction_test}
topics=("${@:3}")
[ ${#topics[@]} -gt 0 ] || topics=(single_pass types kept_fractions partitions orders sorts row_sums row_sum_study utf8 ladder profiles row_sum_profiles)
mkdir -p "$folder"

# measure TOPIC SIZE [options of the program]
measure() {
    local topic=$1 size=$2
    shift 2
    "$program" --no-color --size "$size" --csv "$folder/$topic.csv" "$@" | tail -n 1 >&2
}

single_pass() {
    for k in {8..24} 26 28; do
        measure h200_single_pass "2^$k" --op scan,compact --variant single-pass,cub
    done
}

types() {
    measure types 2^28 --op scan --variant single-pass,cub --type int8,int64,float,double
    measure types 2^28 --op compact --variant single-pass,cub --type int8,int64
}

kept_fractions() {
    for kept in 0 0.001 0.25 0.5 0.75 1; do
        measure kept_fractions 2^28 --op compact --variant single-pass,cub --input "kept:$kept"
    done
    measure kept_fractions 2^24 --op compact --variant single-pass,cub --input kept:0.5
}

partitions() {
    for k in 20 24 28; do
        measure partitions "2^$k" --op partition --variant single-pass,single-pass-apart,cub
    done
}

orders() {
    for k in 20 24 28; do
        measure orders "2^$k" --op scan --variant single-pass,single-pass-tickets,single-pass-reproducible,cub --type int32,float
    done
}

sorts() {
    for k in {8..24} 26 28; do
        measure sorts "2^$k" --op sort --variant radix,cub
    done
    for k in 20 24 26 28; do
        measure sorts "2^$k" --op sort-pairs --variant radix,cub
    done
    for input in mod:100 and:3 ascending zeros; do
        measure sorts 2^28 --op sort --variant radix,cub --input "$input"
    done
    measure sorts 2^27 --op sort --variant radix,cub --type int64
    measure sorts 2^28 --op sort --variant radix,cub --type int8,float
    measure sorts 2^26 --op sort-pairs --variant radix,cub --type int64
}

row_sums() {
    local shapes=3000x2048,3000x2047,24000x2048,24000x2047,262144x2048,2^22x128,2^24x32,2^26x7,2^28x1,64x2^22,7x38347922
    "$program" --no-color --op row-sum --type float --shape "$shapes" --variant adaptive,cub,cublas \
        --csv "$folder/row_sums.csv" | tail -n 1 >&2
    # Of one row CUB adds up too many elements one after the other for the check.
    "$program" --no-color --op row-sum --type float --shape 1x2^28 --variant adaptive,cublas \
        --csv "$folder/row_sums.csv" | tail -n 1 >&2
    "$program" --no-color --op row-sum --type int8,int32,int64,double --shape 3000x2048,2^18x1024,2^24x7,64x2^21 \
        --variant adaptive,cub,cublas --csv "$folder/row_sum_types.csv" | tail -n 1 >&2
}

row_sum_study() {
    "$program" --no-color --op row-sum --type float --shape 3000x2048,3000x2047,24000x2048,24000x2047 \
        --csv "$folder/row_sum_study.csv" | tail -n 1 >&2
}

# A GiB of text in: so many bytes of UTF-8, half as many elements of UTF-16, a quarter of UTF-32.
utf8() {
    for input in ascii cyrillic cjk emoji mixed ill-formed:10; do
        measure utf8 2^30 --op utf8-to-utf32,utf8-to-utf16,utf8-validate --variant single-pass --input "$input"
        measure utf8 2^28 --op utf32-to-utf8 --variant single-pass --input "$input"
        measure utf8 2^29 --op utf16-to-utf8 --variant single-pass --input "$input"
    done
    for k in {10..16}; do
        measure utf8_small "2^$k" --op utf8-to-utf32,utf8-validate,utf32-to-utf8 --variant single-pass --input mixed
    done
    measure utf8_variants 2^26 --op utf8-to-utf32,utf8-to-utf16,utf8-validate,utf32-to-utf8,utf16-to-utf8 --input mixed
}

ladder() {
    for k in 12 20 24 26 28; do
        "$program" --no-color --size "2^$k" --op scan,compact,sort,sort-pairs --csv "$folder/h200.csv" \
            >"$folder/report_2pow$k.txt"
        tail -n 1 "$folder/report_2pow$k.txt" >&2
    done
}

# Needs ncu of the CUDA toolkit.
profiles() {
    local size=2^26
    profile() {
        scripts/profile.py --csv "$folder/profile.csv" --program "$program" -- --size "$size" "$@" >&2
    }
    profile --op scan --variant single-pass,cub
    profile --op scan --variant single-pass --type int64
    profile --op compact --variant single-pass,cub
    profile --op partition --variant single-pass-apart
    profile --op sort --variant radix,cub
    profile --op sort-pairs --variant radix,cub
}

row_sum_profiles() {
    for variant in block-per-row block-per-row-fixed ilp-2 ilp-3 ilp-5 ilp-10 shuffle vectors adaptive cub; do
        scripts/profile.py --csv "$folder/row_sum_profile.csv" --program "$program" -- --op row-sum --type float \
            --shape 24000x2048 --variant "$variant" >&2
    done
    for shape in 2^22x128 2^26x7 1x2^28; do
        scripts/profile.py --csv "$folder/row_sum_profile.csv" --program "$program" -- --op row-sum --type float \
            --shape "$shape" --variant adaptive >&2
    done
}

for topic in "${topics[@]}"; do
    "$topic"
done
