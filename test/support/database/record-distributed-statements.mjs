import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** In a cluster, other tests move the table, and no check is necessary. */
const isCluster = process.env.TEST_WORKER_URLS !== undefined;
const SERVICE = 'merchant-connectivity-service';

/**
 * Records the statements of the service on tables that can be distributed. After the run, `whole-run.reporter.mjs` checks that
 * each of them names the column by which the table is distributed; without it, a statement runs on all shards.
 *
 * @param read returns a module of the bundle
 */
export function recordDistributedStatements(read) {
  if (isCluster) return;
  const { DISTRIBUTED_TABLES } = read('src/infrastructure/database/database.configuration.js');
  const { Client } = read('pg');
  const file = join(process.env.TEST_RUN_DIRECTORY, 'distributed-statements.txt');
  const tables = DISTRIBUTED_TABLES.map(({ table, column }) => ({
    // The table itself or one of its partitions, and not, for example, request_log_rollup.
    isRead: new RegExp(
      String.raw`\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:ONLY\s+)?${table}(?:_default|_\d{8}|_stray_\w+)?(?![\w.])`,
      'i',
    ),
    isRouted: new RegExp(String.raw`\b${column}\s*(?:=|IN\b)|INTO\s+${table}\s*\([^)]*\b${column}\b`, 'i'),
  }));

  const seen = new Set();
  const record = (statement) => {
    if (seen.has(statement)) return;
    seen.add(statement);
    // Those of migrations, which are not checked.
    if (/\b(?:CREATE|ALTER|DROP)\b/.test(statement)) return;
    for (const { isRead, isRouted } of tables) {
      if (!isRead.test(statement)) continue;
      const text = statement
        .replaceAll(/_stray_\w+/g, '_stray_*')
        .replaceAll(/\s+/g, ' ')
        .trim();
      appendFileSync(file, `${JSON.stringify({ isRouted: isRouted.test(statement), statement: text })}\n`);
    }
  };

  const { query } = Client.prototype;
  Client.prototype.query = function (...parameters) {
    const [statement] = parameters;
    const text = typeof statement === 'string' ? statement : statement?.text;
    const name = this.connectionParameters?.application_name ?? '';
    if (text !== undefined && name.startsWith(SERVICE)) record(text);
    return Reflect.apply(query, this, parameters);
  };
}
