import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startCitusCluster } from '../database/citus-cluster.mjs';
import globalTeardown from './global-teardown.mjs';
import { onInterruption } from './interruption.mjs';
import { prepareTemplate } from './prepare-template.mjs';
import './register-typescript.mjs';

const { DailyPartitions, distribute, migrate } =
  await import('../../../src/infrastructure/database/index.ts');
const { startEmbeddedPostgres } = await import('../../../src/infrastructure/embedded-postgres/index.ts');

/** A file system in memory, on which creating a database takes half the CPU time. Containers often have 64 MiB of it. */
const MEMORY = '/dev/shm';
/** Bytes. A run uses less than 1 GiB at a time. */
const REQUIRED_MEMORY = 3 * 2 ** 30;

/** Starts one PostgreSQL server for the whole run, with a migrated database that each test file clones. */
export default async function globalSetup() {
  const directory = makeDirectory(tmpdir());
  mkdirSync(join(directory, 'logs'));
  process.env.TEST_RUN_DIRECTORY = directory;
  // Files that tests leave in their folders are deleted with the run.
  process.env.TMPDIR = directory;
  process.env.TEST_DATABASE_DIRECTORY = hasMemory() ? makeDirectory(MEMORY) : join(directory, 'database');
  onInterruption(globalTeardown);
  const { TEST_CITUS_BINARIES: binaries } = process.env;
  const server = binaries === undefined ? startServer() : startCluster(directory, binaries);
  const failed = (await Promise.allSettled([server, buildAll()])).find(({ reason }) => reason);
  if (failed) {
    // Jest tears down only what was set up completely.
    await globalTeardown();
    throw failed.reason;
  }
  // With one worker, tests run in this process, and Jest copies global names: all files would share the metadata of libraries.
  for (const name of ['classValidatorMetadataStorage', 'typeormMetadataArgsStorage']) delete globalThis[name];
}

/** Builds the clients, and the application, which the tests load as a bundle. */
async function buildAll() {
  const run = (script) => promisify(execFile)(process.execPath, [script]);
  const clients = run('scripts/ensure-clients.mjs');
  await run('scripts/ensure-build.mjs');
  process.env.TEST_BUNDLE = (await run('test/support/runner/bundle/build-bundle.mjs')).stdout;
  await clients;
}

function makeDirectory(parent) {
  const directory = mkdtempSync(join(parent, 'merchant-connectivity-test-'));
  // When root starts the run, PostgreSQL runs as another user, who must be able to enter the directory.
  chmodSync(directory, 0o755);
  return directory;
}

function hasMemory() {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= REQUIRED_MEMORY;
}

async function startServer() {
  globalThis.testServer = await startEmbeddedPostgres({
    directory: join(process.env.TEST_DATABASE_DIRECTORY, 'postgres'),
    database: 'template_migrated',
    durable: false,
  });
  const { url } = globalThis.testServer;
  process.env.TEST_TEMPLATE_URL = url;
  await migrate(url);
  await prepareTemplate(url, DailyPartitions);
}

/** Runs the tests on a cluster, with the request log distributed. */
async function startCluster(directory, binaries) {
  const cluster = await startCitusCluster({ binaries, directory: join(directory, 'citus') });
  globalThis.testServer = { release: () => cluster.stop() };
  for (const database of ['template_migrated', 'template_empty']) await cluster.createDatabase(database);
  const url = cluster.urlOf('template_migrated');
  await migrate(url);
  await distribute({ url }, { shards: 4, report: () => undefined });
  for (const database of ['template_migrated', 'template_empty']) await cluster.close(database);
  const [, ...workers] = cluster.nodes.map((node) => cluster.urlOf('template_migrated', node));
  process.env.TEST_TEMPLATE_URL = url;
  process.env.TEST_WORKER_URLS = workers.join(' ');
  process.env.TEST_EMPTY_TEMPLATE = 'template_empty';
  process.env.TEST_DATABASE_DISTRIBUTION = 'citus';
}
