#!/bin/sh
# What a newcomer types on a bare Debian, from nothing to an uploaded photo, an upgrade and nothing left: sh visit.sh WAY RELEASE VERSION.
# Prints a line for each step: its name and its milliseconds, or bytes.
set -eu
way=$1 MEDIA_RELEASE=$2 version=$3
export MEDIA_RELEASE XDG_DATA_HOME=/tmp/data
get='curl --fail --silent --show-error --location --remote-name'
mkdir -p /tmp/visit
cd /tmp/visit
cp /src/test/fixtures/photo.png .

step() {
  name=$1
  shift
  start=$(date +%s%N)
  "$@" >/tmp/log 2>&1 || {
    cat /tmp/log >&2
    echo "$way: $name failed: $*" >&2
    exit 1
  }
  echo "$name $((($(date +%s%N) - start) / 1000000))"
}

# What is there, but for what the newcomer downloaded, npm's own cache, and directories that other programs use too.
everything() { find / -path /proc -prune -o -path /dev -prune -o -path /sys -prune -o -path /tmp -prune -o -path /src -prune -o -path /upper -prune -o -path /root/.npm -prune -o -print | grep -vxE '/root/\.cache|/usr/local/share/man/man1|/usr/local/lib/node_modules' | sort; }
apt() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Options::=--force-unsafe-io install --no-install-recommends "$@"; }
shows() {
  out=$(shift && "$@") || return
  case $out in *"$1"*) ;; *) printf '%s\n' "$out" && return 1 ;; esac
}
# That it says how this copy was installed, and that another one hides it.
doctor() {
  shows " $kind, " "$program" doctor --base-url embedded && mkdir -p /tmp/other &&
    printf '#!/bin/sh\n' >/tmp/other/media && chmod 755 /tmp/other/media &&
    PATH=/tmp/other:$PATH shows 'another one comes first in PATH, /tmp/other/media' "$program" doctor --base-url embedded
}
check() { sha256sum --check --ignore-missing SHA256SUMS; }

{ apt-get -qq update && apt curl ca-certificates; } >/tmp/log 2>&1 || { cat /tmp/log >&2 && exit 1; }

# One way: its needs, and how it installs, upgrades and uninstalls.
case $way in
script | hand | image | action) kind='one executable' && needs() { apt libatomic1; } ;;
package) kind='the package' && needs() { apt nodejs npm; } ;;
# The npm 9.2 of Debian 13 copies a clone; later ones link to it.
clone) kind='the package' && needs() { apt git nodejs npm; } ;;
esac
case $way in
script)
  program=$HOME/.local/bin/media man=$HOME/.local/share/man/man1/media.1
  install() { $get "$MEDIA_RELEASE/install.sh" && sh install.sh --from "$MEDIA_RELEASE"; }
  outdate() { printf '#!/bin/sh\necho old\n' >"$program.old" && mv "$program.old" "$program"; }
  upgrade() { sh install.sh --from "$MEDIA_RELEASE"; }
  uninstall() { sh install.sh --uninstall; }
  ! { install >/tmp/log 2>&1 && ls -A "$HOME/.local" 2>/dev/null; } || exit 1
  grep -q 'apt-get install libatomic1' /tmp/log || { cat /tmp/log >&2 && exit 1; }
  ;;
hand)
  program=/tmp/visit/media-linux-x64 man=
  install() {
    $get "$MEDIA_RELEASE/media-linux-x64.gz" && $get "$MEDIA_RELEASE/SHA256SUMS" && check
    gzip -d -f media-linux-x64.gz && chmod +x media-linux-x64
  }
  outdate() { rm "$program" && printf '#!/bin/sh\necho old\n' >"$program"; }
  upgrade() { install; }
  uninstall() { rm "$program"; }
  ;;
image)
  export HOME=/tmp
  # What the Dockerfile's stage says; the read-only root and the other user are in packaging/executable-image.test.ts.
  program=/usr/local/bin/media man=
  install() { curl -fsS "$MEDIA_RELEASE/media-linux-x64.gz" | gzip -dc >"$program" && chmod 755 "$program"; }
  outdate() { rm "$program"; }
  upgrade() { install; }
  uninstall() { rm "$program"; }
  ;;
package)
  program=/usr/local/bin/media man=/usr/local/share/man/man1/media.1
  install() { for file in "media-cli-$version.tgz" SHA256SUMS; do $get "$MEDIA_RELEASE/$file"; done && check && npm install --global ./media-cli-*.tgz; }
  outdate() { sed -i 's/"version": "[^"]*"/"version": "0.0.1"/' /usr/local/lib/node_modules/media-cli/package.json; }
  upgrade() { npm install --global ./media-cli-*.tgz; }
  uninstall() { npm uninstall --global media-cli; }
  ;;
clone)
  program=/usr/local/bin/media man=/usr/local/share/man/man1/media.1
  install() { git clone --quiet /src/.git clone && cd clone && npm install --global .; }
  outdate() { echo '// old' >>dist/main.cjs && rm -r dist; }
  upgrade() { git pull --quiet && npm install --global .; }
  uninstall() { npm uninstall --global media-cli && cd .. && rm -rf clone; }
  ;;
action)
  # The runner empties this directory after the job.
  export RUNNER_TEMP=/tmp/visit/runner GITHUB_OUTPUT=/tmp/output GITHUB_STEP_SUMMARY=/tmp/summary
  program= man=
  install() { sh /tmp/run-action.sh && outputs_photo; }
  outputs_photo() { grep -A 1 '^id<<' /tmp/output | grep '^m_' && grep '| photo.png | uploaded |' /tmp/summary && rm /tmp/output /tmp/summary; }
  outdate() { rm -r "$RUNNER_TEMP"; }
  upgrade() { install; }
  uninstall() { rm -r "$RUNNER_TEMP"; }
  ;;
esac

step needs needs
everything >/tmp/before
bytes() { du -sbc /upper /tmp/visit | tail -n 1 | cut -f 1; }
size=$(bytes)
step install install
echo "bytes $(($(bytes) - size))"
if [ "$way" = action ]; then
  step upload install
else
  step upload shows m_ "$program" upload /tmp/visit/photo.png --base-url embedded --template '{id}\n'
  step completion shows complete "$program" completion bash
  step man shows 'media' "$program" help --man
  [ -z "$man" ] || test -s "$man"
  step doctor doctor
fi
outdate
step upgrade upgrade
[ -z "$program" ] || shows "$version" "$program" --version
step uninstall uninstall
everything >/tmp/after
diff /tmp/before /tmp/after >&2 || {
  echo "$way: left behind" >&2
  exit 1
}
