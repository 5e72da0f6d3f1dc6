#!/usr/bin/env bash
# Sourced by the other scripts. Makes sure that the build's requirements are installed, then configures and builds a
# preset. On Debian and Ubuntu it installs missing packages if that needs no password. Otherwise it says what to
# install. It does nothing if everything is there.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minimum_cmake=3.24
packages=(g++ cmake ninja-build git ca-certificates libtbb-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev)

# Messages go to stderr, because run.sh's stdout is for the program's output.
say() {
    echo "$*" >&2
}

die() {
    say "error: $*"
    exit 1
}

# Whether version $1 is at least $2.
at_least() {
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || echo "$package"
    done
}

# install_packages NAME...: installs those of the packages that are missing.
install_packages() {
    command -v apt-get >/dev/null || return 0
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -eq 0 ] && return
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo -n)
        sudo -n true 2>/dev/null || die "please install the missing packages:
    sudo apt-get install ${missing[*]}"
    fi
    say "Installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq || say "warning: apt-get update failed; trying with the lists that are there"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null ||
        die "could not install ${missing[*]}"
}

venv=build/venv

# pip_install NAME...: installs from PyPI into the build folder.
pip_install() {
    if [ ! -x "$venv/bin/pip" ]; then
        install_packages python3-venv
        python3 -m venv "$venv"
    fi
    "$venv/bin/pip" install --quiet "$@"
}

# find_python: sets `python` to one that has matplotlib. Debian's packages are for Debian's Python, which need not be the
# first on the PATH.
find_python() {
    install_packages python3-matplotlib
    local candidate
    for candidate in /usr/bin/python3 python3; do
        python=$(command -v "$candidate") || continue
        ! "$python" -c 'import matplotlib' 2>/dev/null || return 0
    done
    die "please install matplotlib"
}

# If the distribution's CMake is too old, a newer one is installed in the build folder.
ensure_cmake() {
    local version
    version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p' || true)
    at_least "${version:-0}" "$minimum_cmake" && return
    if [ ! -x "$venv/bin/cmake" ]; then
        say "CMake ${version:-is missing}: fetching a newer one into $venv"
        pip_install cmake || die "please install CMake $minimum_cmake or newer"
    fi
    PATH="$PWD/$venv/bin:$PATH"
}

# nvcc is often installed but not on the PATH.
find_nvcc() {
    command -v nvcc >/dev/null && return
    local candidate
    for candidate in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
        if [ -n "$candidate" ] && [ -x "$candidate/bin/nvcc" ]; then
            PATH="$candidate/bin:$PATH"
            return
        fi
    done
}

# NCCL connects several GPUs. It comes from PyPI if it is neither beside the toolkit nor on the system. Without it the
# variants for several GPUs are skipped.
find_nccl() {
    command -v nvcc >/dev/null || return 0
    local folder
    for folder in "${NCCL_ROOT:-}" "$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")" /usr /usr/local; do
        if [ -n "$folder" ] && [ -f "$folder/include/nccl_device.h" ]; then
            return
        fi
    done
    say "Fetching NCCL into $venv"
    (pip_install "nvidia-nccl-cu$(nvcc --version | sed -n 's/.* release \([0-9]*\).*/\1/p')") >&2 || {
        say "NCCL could not be fetched: the variants for several GPUs are skipped"
        return 0
    }
    NCCL_ROOT=$(echo "$PWD/$venv"/lib/python3*/site-packages/nvidia/nccl)
    export NCCL_ROOT
}

# newest_cccl: fetches the newest CCCL and prints the folder of its headers.
newest_cccl() {
    pip_install --upgrade nvidia-cuda-cccl || die "could not fetch the newest CCCL"
    local headers
    headers=$(echo "$PWD/$venv"/lib/python3*/site-packages/nvidia/cu*/include/cccl)
    [ -d "$headers" ] || die "the newest CCCL has no headers where they were expected: $headers"
    echo "$headers"
}

# Peers that the build fetches: simdutf, and CUB and Thrust of the newest CCCL beside those of the toolkit.
add_peers() {
    local headers
    headers=$(newest_cccl)
    STREAM_COMPACTION_CMAKE_OPTIONS+=" -DSTREAM_COMPACTION_SIMDUTF=ON -DSTREAM_COMPACTION_LATEST_CCCL=$headers"
}

# choose_preset OPTION...: sets `preset` to `release` for a card or to `simulated`, and `options` to the remaining
# options. Without --cuda, --simulate or --simulated it depends on whether there is a card.
choose_preset() {
    preset=
    options=()
    local option
    for option in "$@"; do
        case $preset$option in
            simulated--cuda | release--simulate*) die "--cuda and --simulate exclude each other" ;;
        esac
        case $option in
            --cuda)
                preset=release
                # Without nvcc nothing can be built for a card.
                STREAM_COMPACTION_CMAKE_OPTIONS+=" -DSTREAM_COMPACTION_CUDA=ON"
                ;;
            --simulate | --simulated) preset=simulated ;;
            --all-peers) add_peers ;;
            --gpus* | *distributed* | *gather-to-one* | *out-of-core*)
                STREAM_COMPACTION_CMAKE_OPTIONS+=" -DSTREAM_COMPACTION_SEVERAL_GPUS=ON"
                options+=("$option")
                ;;
            *) options+=("$option") ;;
        esac
    done
    if [ -z "$preset" ]; then
        if nvidia-smi -L 2>/dev/null | grep -q '^GPU 0'; then
            preset=release
        else
            preset=simulated
            say "No NVIDIA card was found: kernels run in the simulator, on the CPU. --cuda builds for a card."
        fi
    fi
    if [ $preset = simulated ]; then
        install_packages libboost-context-dev libthrust-dev libopenmpi-dev openmpi-bin
    else
        find_nccl
    fi
}

# build PRESET [CMake options]: builds the targets in `target` (default: all) into build/PRESET, also with the options in
# STREAM_COMPACTION_CMAKE_OPTIONS. Prints output only if something fails.
target=all
build() {
    local preset=$1
    shift
    local log=build/$preset.log
    mkdir -p build
    say "Building build/$preset (log: $log)"
    # Compiler flags of an earlier configuration are forgotten: CI's make kernels slow.
    # shellcheck disable=SC2086  # options and targets, separated by spaces
    { cmake --preset "$preset" -UCMAKE_CUDA_FLAGS ${STREAM_COMPACTION_CMAKE_OPTIONS:-} "$@" && cmake --build --preset "$preset" --target $target; } >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        die "the build failed; the whole log is in $log"
    }
    # Say why there are no GPU variants, unless --simulate asked for it.
    sed -n 's/^-- \(Building the CPU part only\)/\1/p' "$log" >&2
}

if command -v apt-get >/dev/null; then
    install_packages "${packages[@]}"
else
    say "Not a Debian or Ubuntu: what is missing of oneTBB, fmt, CLI11, nlohmann-json and GoogleTest, CMake fetches as source."
    command -v ninja >/dev/null || die "please install ninja"
fi
ensure_cmake
find_nvcc
