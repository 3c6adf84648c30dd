import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/src/infrastructure/embedded-postgres/index.js';
import { flagsOf, freePort, start } from './processes.mjs';

const BUILD = new URL('../../dist', import.meta.url).pathname;

/**
 * Starts a separate, durable PostgreSQL on which services can run. Close it when done.
 *
 * @param options.databaseUrl an existing database to use instead
 * @param options.build the build of the services, if it is another one
 */
export async function openWorkbench({ databaseUrl, build = BUILD } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'bench-'));
  // PostgreSQL may run as another user, which must be able to enter the folder.
  chmodSync(directory, 0o755);
  const server = databaseUrl
    ? { url: databaseUrl, release: async () => undefined }
    : await startEmbeddedPostgres({ directory: join(directory, 'postgres') });
  const children = [];
  return {
    directory,
    async database(name) {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    async service(environment = {}, flags = flagsOf(join(build, '..'))) {
      const port = await freePort();
      const child = await start(join(build, 'src/main.js'), {
        environment: {
          DATABASE_URL: server.url,
          DATA_DIR: directory,
          PORT: String(port),
          ...environment,
        },
        flags,
        ready: 'Listening on',
      });
      children.push(child);
      const credentials = JSON.parse(readFileSync(join(directory, 'credentials.json'), 'utf8'));
      return {
        ...child,
        baseUrl: `http://127.0.0.1:${port}`,
        credentials,
        databaseUrl: server.url,
        dataDirectory: directory,
        /** Settings with which another process, or this one, can use the same data. */
        settings: {
          DATABASE_URL: server.url,
          DATA_DIR: directory,
          SECRET_PEPPER: readFileSync(join(directory, 'secret-pepper'), 'utf8').trim(),
          KEY_ENCRYPTION_KEY: readFileSync(join(directory, 'key-encryption-key'), 'utf8').trim(),
        },
      };
    },
    async program(file, environment) {
      const port = await freePort();
      const child = await start(new URL(`../baselines/${file}`, import.meta.url).pathname, {
        environment: { ...environment, PORT: String(port) },
        ready: 'ready',
      });
      children.push(child);
      return { ...child, baseUrl: `http://127.0.0.1:${port}` };
    },
    async close() {
      for (const child of children) await child.stop();
      await server.release();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function basic({ client_id, secret }) {
  return `Basic ${Buffer.from(`${client_id}:${secret}`).toString('base64')}`;
}
