#!/usr/bin/env bash
# Sourced by run.sh and test.sh: makes sure that what the build needs is there, then configures and builds a preset.
# On Debian and Ubuntu missing packages are installed when that is possible without a password; elsewhere, and where it
# is not, the script says what to install. It does nothing when all is there.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

minimum_cmake=3.24
packages=(g++ cmake ninja-build git ca-certificates libtbb-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev)

# What the scripts say goes to stderr: the output of run.sh is the program's alone.
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

# install_packages NAME...: those of them that are missing.
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

# An old distribution's CMake is replaced by a newer one in the build folder.
ensure_cmake() {
    local version
    version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p' || true)
    at_least "${version:-0}" "$minimum_cmake" && return
    local venv=build/venv
    if [ ! -x "$venv/bin/cmake" ]; then
        say "CMake ${version:-is missing}: fetching a newer one into $venv"
        install_packages python3-venv
        python3 -m venv "$venv" && "$venv/bin/pip" install --quiet cmake ||
            die "please install CMake $minimum_cmake or newer"
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

# choose_preset OPTION...: sets `preset` to the build to make, `release` for a card or `simulated`, where kernels run on
# the CPU, and `options` to those that are not about this. Without --cuda or --simulate (or --simulated) a card decides.
choose_preset() {
    preset=
    options=()
    local option
    for option in "$@"; do
        case $option in
            --cuda)
                preset=release
                # Without nvcc there is nothing to build for a card.
                STREAM_COMPACTION_CMAKE_OPTIONS+=" -DSTREAM_COMPACTION_CUDA=ON"
                ;;
            --simulate | --simulated) preset=simulated ;;
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
    [ $preset = release ] || install_packages libboost-context-dev libthrust-dev
}

# build PRESET [CMake options], besides those in STREAM_COMPACTION_CMAKE_OPTIONS: builds the target that `target` names,
# by default all, into build/PRESET, with output only when something is wrong.
target=all
build() {
    local preset=$1
    shift
    local log=build/$preset.log
    mkdir -p build
    say "Building build/$preset (log: $log)"
    # shellcheck disable=SC2086  # options, separated by spaces
    { cmake --preset "$preset" -G Ninja ${STREAM_COMPACTION_CMAKE_OPTIONS:-} "$@" && cmake --build --preset "$preset" --target "$target"; } >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        die "the build failed; the whole log is in $log"
    }
    # Why there are no GPU variants, where that was not asked for.
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
