# One executable without Node.js, for jobs in containers (docs/install.md): npm run executables && .ci/image.sh x64 image.tar.gz
FROM debian:13-slim AS executable
# What the executable needs besides the base.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libatomic1 \
    && rm -rf /var/lib/apt/lists/*
ARG EXECUTABLE=media-linux-x64
COPY --chmod=755 dist-executables/${EXECUTABLE} /usr/local/bin/media
# The only place that a container with --read-only --tmpfs /tmp can write to.
ENV HOME=/tmp
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["media"]

# The embedded service as an image, for CI systems: docs/embedded-service.md.
FROM node:22-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund \
    && npm pack --pack-destination /tmp \
    && npm install --global --prefix /opt/media --no-audit --no-fund /tmp/media-cli-*.tgz sharp@0.35

FROM node:22-slim
COPY --from=build /opt/media /opt/media
RUN mkdir -m 700 /data && chown node:node /data
ENV PATH=/opt/media/bin:$PATH \
    MEDIA_SERVE_HOST=0.0.0.0 \
    MEDIA_SERVE_PORT=4010 \
    MEDIA_SERVE_DATA_DIR=/data \
    MEDIA_CONFIG_DIR=/data/config \
    NODE_DISABLE_COMPILE_CACHE=1
USER node
VOLUME /data
EXPOSE 4010
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MEDIA_SERVE_PORT}/healthz`).then(({ok}) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["media"]
CMD ["serve", "--ndjson"]
