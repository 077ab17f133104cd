#!/bin/sh
# Installs `media` as one executable, without Node.js, or removes it: sh install.sh --help. Nothing is replaced before
# everything is checked. docs/install.md shows the other ways, and docs/verify.md how to check this file.
set -eu
# A release writes its own address here.
release=${MEDIA_RELEASE-}
prefix=${HOME:+$HOME/.local} action=install
usage='Usage: sh install.sh [--from URL] [--prefix DIR] [--uninstall]
  --from URL    the directory with the files of a release (default: the release that this file is from)
  --prefix DIR  where bin/media, the manual page and completions go (default: ~/.local)
  --uninstall   removes them; settings, keys and journals stay'
# The program comes last: it never runs with files of another version.
files='share/man/man1/media.1 share/bash-completion/completions/media share/zsh/site-functions/_media
  share/fish/vendor_completions.d/media.fish bin/media-url bin/media'

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit "${2:-1}"
}

find_platform() {
  case $(uname -sm) in
    'Linux x86_64') archive=media-linux-x64.gz loader=/lib64/ld-linux-x86-64.so.2 ;;
    'Linux aarch64') archive=media-linux-arm64.gz loader=/lib/ld-linux-aarch64.so.1 ;;
    'Darwin arm64') archive=media-darwin-arm64.gz loader=/ ;;
    *) loader= ;;
  esac
  [ -e "$loader" ] || fail "There is no executable for this system ($(uname -sm), or its C library is not glibc). Install Node.js and the package: docs/install.md."
}

find_tools() {
  for hash in sha256sum 'shasum -a 256' 'openssl dgst -sha256 -r' ''; do ! command -v ${hash%% *} >/dev/null || break; done
  [ -n "$hash" ] || fail 'Install sha256sum, shasum or openssl: without one, the download cannot be checked.'
  for get in 'curl -fsSL --proto-redir =https -o' 'wget -q -O' ''; do ! command -v ${get%% *} >/dev/null || break; done
  [ -n "$get" ] && command -v gzip >/dev/null || fail 'Install gzip, and curl or wget, then try again.'
}

install() {
  find_platform; find_tools
  for file in $files; do [ ! -d "$prefix/$file" ] || fail "$prefix/$file is a directory. Remove it, or choose another directory: --prefix DIR"; done
  new=$(mkdir -p "$prefix/bin" && mktemp -d "$prefix/bin/.media.XXXXXX") || fail "$prefix/bin cannot be written. Choose another directory: --prefix DIR"
  trap 'rm -rf "$new"; rmdir "$prefix/bin" 2>/dev/null || :' EXIT; trap 'exit 1' HUP INT TERM
  cd "$new"; for file in $files; do mkdir -p "${file%/*}"; done
  echo "Downloading $release/$archive"
  for file in SHA256SUMS "$archive"; do $get "$file" "$release/$file" || fail "$release/$file could not be downloaded. Nothing was installed."; done
  sum=$($hash <"$archive")
  grep -qxF "${sum%% *}  $archive" SHA256SUMS || fail "$archive is not the file that SHA256SUMS names: it was changed or cut off. Nothing was installed."
  full="$archive could not be unpacked to $prefix/bin. Check whether its disk is full. Nothing was installed."
  { gzip -dc "$archive" >bin/media && chmod 755 bin/media && { ln bin/media bin/media-url 2>/dev/null || cp bin/media bin/media-url; }; } || fail "$full"
  version=$(bin/media --version) || fail 'The executable does not run here: nothing was installed. If a library is missing, install it (Debian and Ubuntu: apt-get install libatomic1).'
  { bin/media help --man >share/man/man1/media.1 && bin/media completion bash >share/bash-completion/completions/media &&
    bin/media completion zsh >share/zsh/site-functions/_media && bin/media completion fish >share/fish/vendor_completions.d/media.fish; } || fail "$full"
  for file in $files; do mkdir -p "$prefix/${file%/*}" && mv -f "$file" "$prefix/$file" || fail "$prefix/$file cannot be written."; done
  echo "Installed media $version as $prefix/bin/media."
  found=$(command -v media) || found=
  [ "$found" = "$prefix/bin/media" ] || echo "Your shell does not find it${found:+, but $found}. Put this into its profile: export PATH=\"$prefix/bin:\$PATH\""
}

uninstall() {
  for file in $files; do rm -f "$prefix/$file" || fail "$prefix/$file cannot be removed."; done
  [ ! -d "$prefix" ] || for file in $files; do (cd "$prefix" && rmdir -p "${file%/*}" 2>/dev/null) || :; done
  echo "Removed media from $prefix. Settings, keys and journals stay: docs/install.md says where they are."
}

while [ $# -gt 0 ]; do
  case $1 in
    --uninstall) action=uninstall ;;
    --help) echo "$usage" && exit ;;
    --from | --prefix) [ -n "${2-}" ] || fail "$1 needs a value." 2; if [ "$1" = --from ]; then release=${2%/}; else prefix=$2; fi; shift ;;
    *) fail "There is no $1. $usage" 2 ;;
  esac
  shift
done
case $prefix in /*) ;; ?*) prefix=$PWD/$prefix ;; *) fail 'HOME is not set. Name a directory: --prefix DIR' 2 ;; esac
[ ! -L "$prefix/bin/media" ] || fail "$prefix/bin/media is a link that something else made, such as npm. Remove it the same way first: docs/install.md."
case $action-$release in
  install-http://*@*) ;; # Another host follows the user name localhost.
  uninstall-* | install-https://* | install-http://127.0.0.1:* | install-http://localhost:*) $action; exit ;;
esac
fail 'Name the release by its https:// URL: --from URL' 2
