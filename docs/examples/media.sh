#!/bin/sh
# What a CI job runs. Copy it to .ci/media.sh of your repository; the command that uploads is the first line below.
#   sh .ci/media.sh check           in pull requests, where people upload: fails if the manifest lacks a file
#   sh .ci/media.sh preview         in pull requests, where the main branch uploads: says what it will upload
#   sh .ci/media.sh upload BRANCH   on the main branch: uploads, and pushes the manifest
#   sh .ci/media.sh push BRANCH     pushes the manifest only, for a job that has uploaded
set -eu
PATH=$PWD/.media/bin:$PATH
media_upload() { media upload -r assets --manifest media.json --ndjson "$@" > media.ndjson; }
manifest=media.json

# Installs `media` from the release that two variables pin, unless it is there.
install() {
  command -v media > /dev/null && return
  curl --fail --silent --show-error --location --output media.tgz "${MEDIA_PACKAGE:?set it to the URL of a release}"
  echo "$MEDIA_PACKAGE_SHA256  media.tgz" | sha256sum --check --quiet
  npm install --global --ignore-scripts --loglevel=error --cache .npm --prefix .media ./media.tgz > /dev/null
}

# Commits the manifest, and nothing else, to the newest state of a branch. Others may push at the same time: five tries.
push() {
  # A cache forgets no file, but takes an empty one.
  [ -e "$manifest.journal" ] || : > "$manifest.journal"
  [ -n "$(git status --porcelain -- "$manifest")" ] || return 0
  rm -rf .media-push
  for _ in 1 2 3 4 5; do
    git fetch --quiet origin "$1"
    git worktree prune
    git worktree add --quiet --force --detach .media-push FETCH_HEAD
    if git diff --quiet HEAD FETCH_HEAD -- "$manifest"; then cp "$manifest" ".media-push/$manifest"
    else media journal merge -o ".media-push/$manifest" "$manifest" ".media-push/$manifest"; fi
    git -C .media-push add -- "$manifest"
    # Nothing is committed if the branch has it already.
    git -C .media-push diff --cached --quiet || git -C .media-push -c user.name=media -c user.email=media@localhost \
      commit --quiet --message "Update $manifest [skip ci]"
    commit=$(git -C .media-push rev-parse HEAD)
    rm -rf .media-push
    if git push --quiet origin "$commit:refs/heads/$1"; then return 0; fi
  done
  return 1
}

case $1 in
  # Not with &&, which would make a wrong checksum no failure.
  check) install; media_upload --check ;;
  preview) install; media_upload --dry-run ;;
  push) push "$2" ;;
  upload)
    install
    # What an earlier job in this workspace could not push, then what others pushed.
    push "$2"
    git fetch --quiet origin "$2"
    git checkout --quiet --force FETCH_HEAD
    trap 'push "$2" || exit 1' EXIT
    trap 'exit 143' HUP INT TERM
    media_upload
    ;;
esac
