# syntax=docker/dockerfile:1
# The server with its dashboard and its documentation, built from this checkout. docs/how-to/docker.md says how to run it.

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.base.json ./
COPY packages ./packages
COPY docs ./docs
COPY scripts/when-changed.js ./scripts/
RUN npm ci --omit=dev --no-audit --no-fund \
 && npm run -s build \
 && find packages -name src -prune -exec rm -r {} +

# What runs needs neither the compiler nor the bundler.
FROM node:22-bookworm-slim AS libraries
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY packages ./packages
RUN npm pkg delete dependencies \
 && npm install --omit=dev --no-audit --no-fund \
 && find packages -name src -prune -exec rm -r {} +

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
COPY --from=libraries /build ./
COPY --from=build /build/packages ./packages
COPY samples/equities ./samples/equities
COPY docs/rules ./docs/rules
COPY LICENSE NOTICE ./
# Operators' commands, without npm or a compiler: `docker exec … sandpit keys list`.
RUN printf '#!/bin/sh\nexec node /app/packages/cli/dist/main.js "$@"\n' > /usr/local/bin/sandpit \
 && chmod 755 /usr/local/bin/sandpit \
 && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/v1/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--min-semi-space-size=8", "--max-semi-space-size=8", "packages/server/dist/main.js"]
