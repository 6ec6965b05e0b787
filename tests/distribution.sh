#!/usr/bin/env bash
# Runs the tests of this commit on another release of Debian or Ubuntu, in a folder of its own:
#   tests/distribution.sh trixie /var/tmp/trixie
#   tests/distribution.sh noble /var/tmp/noble make test-all
# The first call installs the release there with debootstrap (root, network, 2.5 GB). Later calls build what has changed.
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: $0 RELEASE FOLDER [COMMAND…]   (without a command: make test)" >&2
  exit 2
fi
source=$(readlink -f "$(dirname "$0")/..")
release=$1 system=$(readlink -m "$2")
shift 2
[ $# -gt 0 ] || set -- make test
"$source/scripts/setup.sh" debootstrap
case $release in
  bookworm | trixie | forky | sid) mirror=http://deb.debian.org/debian components=main updates= flags= script= ;;
  # Debian's debootstrap knows few releases of Ubuntu, and Debian has no package of Ubuntu's keys. Its script for gutsy is
  # the one of all releases since 2007.
  *) mirror=http://archive.ubuntu.com/ubuntu components=main,universe updates=$release-updates
     flags=--no-check-gpg script=gutsy ;;
esac
if ! [ -e "$system/installed" ]; then
  # Tests that need numpy, zsh, fish or man are skipped without them.
  debootstrap --variant=minbase --components=$components $flags \
    --include=ca-certificates,git,make,python3,python3-numpy,zsh,fish,man-db "$release" "$system" "$mirror" $script
  [ -z "$updates" ] || echo "deb $mirror $updates ${components/,/ }" >>"$system/etc/apt/sources.list"
  touch "$system/installed"
fi
mkdir -p "$system/deplo"
git -C "$source" bundle create --quiet "$system/deplo.bundle" HEAD
# The mounts are those of a new namespace, so they end with the command.
unshare --mount --fork bash -euo pipefail -c '
  system=$1
  shift
  for folder in proc sys dev; do mount --rbind /$folder "$system/$folder"; done
  cp /etc/resolv.conf "$system/etc/resolv.conf"
  exec chroot "$system" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euo pipefail -c "
    cd /deplo
    [ -d .git ] || git init --quiet
    git fetch --quiet /deplo.bundle HEAD
    git checkout --quiet --force FETCH_HEAD
    exec \"\$@\"" - "$@"' - "$system" "$@"
