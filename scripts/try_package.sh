#!/usr/bin/env bash
# Tries the Debian package in a new root, as root. debootstrap makes the root, from the mirror of this machine's apt.
# There apt installs the package and what it needs, the program runs, and an example is built with the library.
source "$(dirname "$0")/setup.sh"
[ "$(id -u)" -eq 0 ] || die "chroot needs root"
command -v debootstrap >/dev/null || die "please install debootstrap"
install_packages dpkg-dev file help2man  # for cpack, and the man page

build cpu-only -DSTREAM_COMPACTION_TESTS=OFF -DSTREAM_COMPACTION_EXAMPLES=OFF
rm -rf build/package
cpack -G DEB --config build/cpu-only/CPackConfig.cmake -B "$PWD/build/package" >build/package.log 2>&1 ||
    die "cpack failed; the log is in build/package.log"
package=$(echo build/package/*.deb)
dpkg-deb --info "$package"
dpkg-deb --contents "$package" | grep -v '/$\|/include/'

dpkg-deb --extract "$package" build/package/files
if grep -rlF "$PWD" build/package/files; then
    die "these files name the folder of the build"
fi

root=$(mktemp -d)
chmod 755 "$root"  # for the user as whom apt downloads
trap 'rm -rf --one-file-system "$root"' EXIT
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
targets=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" '$2 == suite && $3 == suite { print $1, $4 }')
mirror=$(head -n 1 <<<"$targets" | cut -d ' ' -f 1)
components=$(awk -v mirror="$mirror" '$1 == mirror { print $2 }' <<<"$targets" | sort -u | paste -sd ,)
[ -n "$mirror" ] || die "apt has no list of $suite; apt-get update makes one"
say "Making a root of $suite"
debootstrap --variant=minbase --components="$components" "$suite" "$root" "$mirror" >build/debootstrap.log ||
    die "debootstrap failed; the log is in build/debootstrap.log"

in_root() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

install_in_root() {
    in_root apt-get install -y --no-install-recommends "$@" >build/apt.log 2>&1 ||
        die "apt failed; the log is in build/apt.log"
}

say "Installing the package"
cp "$package" "$root/tmp/package.deb"
in_root apt-get update -qq
install_in_root /tmp/package.deb

in_root stream_compaction_test --version
in_root stream_compaction_test --size 2^12 --trials 3 --no-color --samples /tmp/run.jsonl
in_root stream_compaction_test compare /tmp/run.jsonl /tmp/run.jsonl
for file in man/man1/stream_compaction_test.1 bash-completion/completions/stream_compaction_test \
    doc/stream-compaction/LICENSE doc/stream-compaction/README.md; do
    [ -s "$root/usr/share/$file" ] || die "the package has no $file"
done
in_root bash -c 'source /usr/share/bash-completion/completions/stream_compaction_test
                 complete -p stream_compaction_test'

say "Building an example with the installed library"
install_in_root g++ cmake make
cp -r examples/use_from_cmake "$root/tmp/example"
in_root cmake -S /tmp/example -B /tmp/example/build
in_root cmake --build /tmp/example/build
in_root /tmp/example/build/keep_nonzero
say "The package works"
