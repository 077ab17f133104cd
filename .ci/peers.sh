#!/usr/bin/env bash
# Installs the real servers and shells that some tests work with, where this machine lets us; without them those tests say that
# they were not run. Never fails.
set -u
packages='slurm-wlm slurmctld slurmd slurm-client munge parallel openssh-server openssh-client
  zsh fish man-db groff-base nginx-light haproxy squid tinyproxy'

missing=
for program in munged slurmctld slurmd sbatch parallel sshd ssh zsh fish man nginx haproxy squid tinyproxy; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null || missing="$missing $program"
done
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
  echo "Installed: $packages"
else
  tail -n 3 "$log"
  echo "Could not be installed:$missing. Tests that need them are not run."
fi
exit 0
