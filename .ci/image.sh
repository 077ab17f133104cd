#!/usr/bin/env bash
# Builds the image of the executable for linux-x64 or linux-arm64 on such a machine, uploads a photo with it as docs/install.md says, and
# saves it: .ci/image.sh x64 release/media-image-linux-x64.tar.gz
set -euo pipefail
cd "$(dirname "$0")/.."
image=registry.example.com/media:executable
docker build --target executable --build-arg "EXECUTABLE=media-linux-$1" --tag "$image" .
docker run --rm --pull never --read-only --tmpfs /tmp --volume "$PWD/test/fixtures:/work:ro" "$image" upload photo.png --base-url embedded
docker save "$image" | gzip -9 --no-name > "$2"
