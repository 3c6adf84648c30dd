import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Parts of statements that run on all shards of a distributed table, and why they may. */
const ALLOWED = [
  {
    part: 'FROM request_log WHERE id > $1 AND id <= $2',
    reason: 'The rollups look for late entries of all clients once a minute.',
    // `npm test` does not run the tests of the rollups.
    isOfPrograms: true,
  },
  { part: 'FROM request_log_default', reason: 'The default partition is empty, unless a clock is wrong.' },
  { part: 'FROM request_log_stray_*', reason: 'The rotation moves the entries of all clients.' },
  {
    part: 'LOCK TABLE request_log IN ACCESS SHARE MODE',
    reason: 'The rollups keep a rotation from detaching a partition. The lock does not read.',
  },
];

/**
 * Returns the problems of the statements that `record-distributed-statements.ts` has recorded.
 *
 * @param {boolean} isComplete whether all tests ran, so that each allowed statement must have run
 */
export function distributedStatementProblems(directory, isComplete) {
  const file = join(directory, 'distributed-statements.txt');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  const recorded = [...new Set(lines)].map((line) => JSON.parse(line));
  const everywhere = recorded.filter(({ isRouted }) => !isRouted).map(({ statement }) => statement);
  console.error(`Checked ${recorded.length} statements on tables that can be distributed.`);
  return [
    ...everywhere
      .filter((statement) => !ALLOWED.some(({ part }) => statement.includes(part)))
      .map(
        (statement) =>
          `A statement does not name the column by which its table is distributed, and would run on all shards: ${statement.slice(0, 500)}\nAdd a condition on the column, or give the reason in test/support/database/distributed-statements.mjs.`,
      ),
    ...ALLOWED.filter(
      ({ part, isOfPrograms }) =>
        isComplete && !isOfPrograms && !everywhere.some((statement) => statement.includes(part)),
    ).map(
      ({ part }) =>
        `No statement contains "${part}" any more: remove it from test/support/database/distributed-statements.mjs.`,
    ),
  ];
}
