# One image for the service, the worker and the operator commands. See docs/deployment.md.
# Debian instead of Alpine: Node.js, argon2 and the DNS resolver are tested more on glibc than on musl. Node.js 24 is the
# newest LTS release that this service is tested with.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# npm installs what the packages for integrators are built with only if they are present.
COPY clients ./clients
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY scripts ./scripts
COPY .swcrc nest-cli.json tsconfig.json ormconfig.ts ./
COPY src ./src
RUN npm run --silent build
# Only the files that the programs load: a tenth of the packages' size, without compilers and the embedded PostgreSQL, which
# production refuses.
RUN node scripts/runtime-packages.mjs packages

FROM ${NODE_IMAGE}
# See docs/decisions/0022-heap-growth.md.
ENV NODE_ENV=production DATA_DIR=/data NODE_OPTIONS="--expose-gc --max-semi-space-size=8"
# The service saves request log entries here that it cannot write before it ends, text messages of development, and emails
# and other text messages that it cannot send. A cluster may choose any user, for example OpenShift: it is always in group 0.
RUN install -d -o node -g 0 -m 0770 /data
RUN ln -s /app/bin/mcs-admin.js /usr/local/bin/mcs-admin
WORKDIR /app
COPY --from=build /app/packages ./node_modules
COPY --from=build /app/dist ./dist
# The documentation site offers these packages, and renders these files.
COPY --from=build /app/clients/dist ./clients/dist
COPY docs ./docs
COPY examples ./examples
COPY bin ./bin
COPY package.json CHANGELOG.md ./
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]
