#!/usr/bin/env bash
# Installs the programs that some tests work with, where this machine lets us; without them those tests say that they were
# not run. Which programs, and from which packages, test/support/programs.json tells. Never fails.
set -u
cd "$(dirname "$0")/.."
# Not in the list: what only `npm run torture` tries.
list='Object.entries(require("./test/support/programs.json")).filter(([program, packages]) => packages && !["apache2", "caddy", "go", "mitmdump"].includes(program))'

# Daemons are not on everybody's PATH.
case ":$PATH:" in *:/usr/bin:*) PATH="$PATH:/usr/sbin:/sbin" ;; esac

missing=
packages=
while read -r program needed; do
  command -v "$program" >/dev/null && continue
  missing="$missing $program"
  packages="$packages $needed"
done < <(node -p "$list.map(row => row.join(' ')).join('\n')")
# Not a program, but what test/cli/upload/deep/hung-disk.test.ts makes its disks of, by Debian's own Python.
if ! /usr/bin/python3 -c 'import fusepy' 2>/dev/null && ! /usr/bin/python3 -c 'import fuse; fuse.FUSE' 2>/dev/null; then
  missing="$missing fusepy"
  packages="$packages python3-fusepy"
fi
# Not of Debian, and too large for every clone. Their install scripts are not run: Prism's would report to its makers.
install_from_npm() {
  program=$1
  shift
  ! command -v npm >/dev/null || [ "$(id -u)" -ne 0 ] ||
    timeout 180 npm install --global --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >/dev/null 2>&1 ||
    echo "Could not be installed: $program. Tests that need it are not run."
}
command -v prism >/dev/null || install_from_npm prism @stoplight/prism-cli@5
# Later versions need Node 22.
command -v gitlab-ci-local >/dev/null || install_from_npm gitlab-ci-local gitlab-ci-local@4.72.0
# Debian's finds fewer locations (test/media/location/exiftool.ts), and stays where it is.
[ "$(exiftool -ver 2>/dev/null | tr -d .)" -ge 1358 ] 2>/dev/null ||
  install_from_npm exiftool --prefix /usr/local exiftool-vendored.pl@13.59.3
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "Not installed, and not to be installed here:$missing. Tests that need them are not run."
  exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
# A daemon that a package would start is none of ours to run.
if timeout 60 apt-get update -qq >"$log" 2>&1 &&
  RUNLEVEL=1 timeout 240 apt-get install -y -qq --no-install-recommends $packages >"$log" 2>&1; then
  echo "Installed:$packages"
else
  tail -n 3 "$log"
  echo "Could not be installed:$missing. Tests that need them are not run."
fi
exit 0
