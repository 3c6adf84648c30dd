import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../dist/src/infrastructure/database/index.js';
import { startEmbeddedPostgres } from '../../dist/src/infrastructure/embedded-postgres/index.js';

/** One PostgreSQL for the whole run, with a migrated database that each test file clones. */
export default async function globalSetup() {
  const directory = mkdtempSync(join(tmpdir(), 'merchant-connectivity-test-'));
  // As root PostgreSQL runs as another user, who must be able to enter.
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'logs'));
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    database: 'template_migrated',
    durable: false,
  });
  await migrate(server.url);
  process.env.TEST_RUN_DIRECTORY = directory;
  process.env.TEST_TEMPLATE_URL = server.url;
  globalThis.testServer = server;
}
