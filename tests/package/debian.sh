#!/bin/bash
# Makes the packages, then installs them in bare Debian 12 systems: the .deb by apt, the archive where there is no
# library of ours. Usage: debian.sh BUILD_FOLDER, as root, with debootstrap and a network; else it is skipped.
set -euo pipefail
build=$1
(($(id -u) == 0)) || { echo "skipped: chroot and debootstrap want root"; exit 77; }
for tool in debootstrap cpack dpkg-shlibdeps file help2man; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
unshare --mount true 2>/dev/null || { echo "skipped: no mounts of its own"; exit 77; }
# Mounts of its own go with it.
[[ -v STEPSIM_MOUNTS ]] || exec env STEPSIM_MOUNTS=own unshare --mount --propagation private "$0" "$@"
# From where this system has its own packages.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
[[ -n $mirror ]] || { echo "skipped: apt has no bookworm here"; exit 77; }

scratch=$(mktemp -d)
trap 'umount "$scratch"/*/proc 2>/dev/null; rm -rf --one-file-system "$scratch"' EXIT
debootstrap --variant=minbase bookworm "$scratch/installed" "$mirror" >"$scratch/log" 2>&1 ||
  { tail -n 5 "$scratch/log"; echo "skipped: debootstrap failed"; exit 77; }
cp -a "$scratch/installed" "$scratch/unpacked"
(cd "$build" && cpack -B "$scratch/packages") >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
ls -l "$scratch"/packages/*.{deb,tar.gz}

in_system() {
  chroot "$scratch/$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "${@:2}"
}
# As a user who owns nothing but a home, which is where it runs.
as_user() {
  chroot --userspec=somebody "$scratch/$1" \
    env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/somebody bash -c "cd && $2"
}
# All that is there, but for what apt itself keeps.
files() {
  (cd "$scratch/installed" && find etc home opt root srv usr var -not -path 'var/cache/*' -not -path 'var/lib/apt/*' \
    -not -path 'var/log/*' | LC_ALL=C sort)
}
all_done() {  # SYSTEM PREFIX: what a user does with it
  as_user "$1" "stepsim list models | grep -q llama3-8b"
  as_user "$1" "time stepsim run $2/share/stepsim/scenarios/llama3-70b-64xh100.yaml | grep '^Step time'"
  as_user "$1" "stepsim run $2/share/stepsim/scenarios/mlp-buckets-8xv100.yaml --engine simgrid | grep -q '^Step time'"
  as_user "$1" "stepsim complete -- run --set par | grep -q '^parallelism\.'"
}
for system in installed unpacked; do
  mount -t proc proc "$scratch/$system/proc"  # a program finds itself there
  in_system $system useradd --create-home somebody
done

echo "the archive, without a package:"
tar -C "$scratch/unpacked/opt" -xzf "$scratch"/packages/stepsim-*.tar.gz
mv "$scratch"/unpacked/opt/stepsim-* "$scratch/unpacked/opt/stepsim"
ln -s /opt/stepsim/bin/stepsim "$scratch/unpacked/usr/local/bin/stepsim"
all_done unpacked /opt/stepsim
! in_system unpacked ldd /opt/stepsim/bin/stepsim | grep -v '/opt/' | grep -vE 'linux-vdso|ld-linux|lib(c|m)\.so' ||
  { echo "the archive lacks a library"; exit 1; }

echo "the package, by apt:"
mv "$scratch/packages" "$scratch/installed/packages"
in_system installed apt-get -q update >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
files >"$scratch/before"
in_system installed bash -c 'apt-get -q install -y --no-install-recommends /packages/stepsim_*.deb' \
  >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
in_system installed dpkg-query -W | wc -l
all_done installed /usr
in_system installed apt-get -q purge -y --auto-remove stepsim >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
left=$(comm -13 "$scratch/before" <(files))
[[ -z $left ]] || { echo "left behind:"; echo "$left"; exit 1; }
echo "nothing of it is left"
