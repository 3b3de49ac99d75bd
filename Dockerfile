# syntax=docker/dockerfile:1
# The package of this checkout on a slim Node. docs/how-to/docker.md says how to run it.

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund \
 && npm run -s pack -- /packed \
 && npm install --prefix /app --offline --no-audit --no-fund /packed/*.tgz

FROM node:22-bookworm-slim
LABEL org.opencontainers.image.title="Sandpit" \
      org.opencontainers.image.description="A simulated US brokerage" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=build /app ./
# Operators' commands, without npm or a compiler: `docker exec … sandpit keys list`.
RUN printf '#!/bin/sh\nexec node /app/node_modules/sandpit-broker/packages/cli/dist/main.js "$@"\n' > /usr/local/bin/sandpit \
 && chmod 755 /usr/local/bin/sandpit \
 && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/v1/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--min-semi-space-size=8", "--max-semi-space-size=8", "node_modules/sandpit-broker/packages/server/dist/main.js"]
