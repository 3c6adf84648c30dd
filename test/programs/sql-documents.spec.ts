import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cloneDatabase } from '../support/database/database.js';

const ROOT = join(import.meta.dirname, '..', '..');

// A distributed database has other constraints and partitions.
const onOneServer = process.env['TEST_WORKER_URLS'] ? it.skip : it;

onOneServer('docs/schema.sql and docs/statements.sql are up to date', async () => {
  const database = await cloneDatabase();
  try {
    const folder = mkdtempSync(join(tmpdir(), 'sql-'));
    const script = join(ROOT, 'scripts', 'sql-documents.mjs');
    const environment = { ...process.env, DATABASE_URL: database.url };
    await promisify(execFile)(process.execPath, [script, folder], { env: environment });
    for (const file of ['schema.sql', 'statements.sql']) {
      const stale = `docs/${file} is stale: run \`npm run docs\` and commit the result.`;
      const [committed, current] = [join(ROOT, 'docs'), folder].map((from) =>
        readFileSync(join(from, file), 'utf8'),
      );
      expect({ [stale]: committed }).toEqual({ [stale]: current });
    }
  } finally {
    await database.drop();
  }
});
