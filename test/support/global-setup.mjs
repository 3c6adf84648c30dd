import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import globalTeardown from './global-teardown.mjs';
import { onInterruption } from './interruption.mjs';
import './register-typescript.mjs';

const { migrate } = await import('../../src/infrastructure/database/index.ts');
const { startEmbeddedPostgres } = await import('../../src/infrastructure/embedded-postgres/index.ts');

/** Starts one PostgreSQL server for the whole run, with a migrated database that each test file clones. */
export default async function globalSetup() {
  const directory = mkdtempSync(join(tmpdir(), 'merchant-connectivity-test-'));
  // When root starts the run, PostgreSQL runs as another user, who must be able to enter the directory.
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'logs'));
  process.env.TEST_RUN_DIRECTORY = directory;
  onInterruption(globalTeardown);
  // Some tests start the built programs.
  const run = (script) => promisify(execFile)(process.execPath, [script]);
  const build = Promise.all(['scripts/ensure-build.mjs', 'scripts/ensure-clients.mjs'].map(run));
  globalThis.testServer = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    database: 'template_migrated',
    durable: false,
  });
  process.env.TEST_TEMPLATE_URL = globalThis.testServer.url;
  await migrate(globalThis.testServer.url);
  await build;
}
