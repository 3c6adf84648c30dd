/**
 * Measures MCP tokens in daily partitions against the table without partitions, with the statements of each: creation,
 * lookups, dropping a day beside them, and the migration from one to the other while the previous release is running.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../dist/src/infrastructure/database/data-source-options.js';
import {
  BatchedStatement,
  DailyPartitions,
  migrate,
  prepared,
} from '../dist/src/infrastructure/database/index.js';
import { MIGRATIONS } from '../dist/src/infrastructure/database/migrations/index.js';
import { McpTokensBatch } from '../dist/src/modules/mcp-tokens/mcp-tokens.batch.js';
import { reportTable } from './support/report.mjs';
import { openWorkbench } from './support/workbench.mjs';

/** Tokens of the day that is dropped, and of the other days together. */
const TOKENS = Number(process.env.TOKENS ?? 5_000_000);
/** Many short rounds, so that other work on the machine affects both sides equally. */
const ROUNDS = Number(process.env.ROUNDS ?? 60);
const SECONDS = Number(process.env.SECONDS ?? 0.3);
const CONNECTIONS = 32;
const DAYS = 8;
const DAY = 86_400_000;
const PARTITIONED = 'McpTokenPartitions1790000000025';
/** Milliseconds for which a transaction holds locks on the table while a day is dropped. */
const SLOW_READER = 3_000;

const TODAY = Math.floor(Date.now() / DAY) * DAY;
const CLIENT = randomUUID();
const NEW_ROW = `INSERT INTO mcp_token (token_hash, client_id, environment, external_user_id, phone_number_sealed,
                                        created_at, expires_at)`;

/** The statements of the release before the table was partitioned. */
class UnpartitionedTokens {
  constructor(database) {
    const insertion = `${NEW_ROW}
      SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[], $7::timestamptz[])`;
    const lookup = prepared(
      `SELECT position::integer, id, client_id AS "clientId", environment, external_user_id AS "externalUserId",
              phone_number_sealed AS "phoneNumberSealed", expires_at AS "expiresAt"
         FROM unnest($1::bytea[]) WITH ORDINALITY AS lookup (token_hash, position)
         JOIN mcp_token USING (token_hash)
        WHERE revoked_at IS NULL`,
    );
    this.insertion = new BatchedStatement({
      execute: async (tokens) => {
        await database.query(
          insertion,
          Object.keys(tokens[0]).map((name) => tokens.map((token) => token[name])),
        );
      },
      maxRows: 500,
      maxStatements: 2,
    });
    this.lookups = new BatchedStatement({
      execute: async (hashes) => {
        const rows = await database.query(lookup, [hashes]);
        const found = new Map(rows.map((row) => [row.position, row]));
        return hashes.map((_, index) => found.get(index + 1));
      },
      maxRows: 100,
      maxStatements: 4,
    });
  }
}

const bench = await openWorkbench();
try {
  const url = await bench.database('without_partitions');
  const partitionedUrl = await bench.database('with_partitions');
  const before = await connect(
    url,
    MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name === PARTITIONED),
    ),
  );
  await before.runMigrations();
  await migrate(partitionedUrl);
  const after = await connect(partitionedUrl);
  const partitions = new DailyPartitions(after);
  // Creates the partitions of these days.
  for (let day = -DAYS - 1; day <= 0; day += 1)
    await partitions.rotate('mcp_token', new Date(TODAY + day * DAY), {
      days: 365,
      expiryColumn: 'expires_at',
    });
  for (const database of [before, after]) {
    await database.query(`INSERT INTO organization (id, name, created_at) VALUES ($1, 'Bench', now())`, [
      CLIENT,
    ]);
    await database.query(
      `INSERT INTO api_client (id, organization_id, environment, created_at) VALUES ($1, $1, 'production', now())`,
      [CLIENT],
    );
    for (let day = -DAYS + 1; day <= 0; day += 1) await fill(database, day, Math.round(TOKENS / DAYS));
    await database.query('VACUUM ANALYZE mcp_token');
    console.error(`filled ${(await size(database)).toFixed(0)} MB`);
  }

  const old = new UnpartitionedTokens(before);
  const current = new McpTokensBatch(after, { isOpen: false });
  const product = {
    create: () => current.add(newToken()),
    find: () => findOne((hash, day) => current.findOfDay(hash, day), 0),
    findOld: () => findOne((hash) => current.findOfAnyDay(hash), 0),
    findOfTwoDays: () => findOne((hash, day) => current.findOfDay(hash, day), -1),
  };
  const comparison = {
    create: () => old.insertion.add(newToken()),
    find: () => findOne((hash) => old.lookups.add(hash), 0),
    findOld: () => findOne((hash) => old.lookups.add(hash), 0),
    findOfTwoDays: () => findOne((hash) => old.lookups.add(hash), -1),
  };
  const rows = [];
  for (const [name, kind, workers] of [
    ['creation', 'create', CONNECTIONS],
    ['creation, one at a time', 'create', 1],
    ['lookup of a token of today', 'find', CONNECTIONS],
    ['lookup of a token of today, one at a time', 'find', 1],
    ['lookup of a token of today or yesterday', 'findOfTwoDays', CONNECTIONS],
    ['lookup of a token without a day', 'findOld', CONNECTIONS],
  ]) {
    for (const side of [product, comparison]) await rate(workers, 1, side[kind]);
    const runs = { product: [], comparison: [] };
    for (let round = 1; round <= ROUNDS; round += 1) {
      const sides = [
        [runs.comparison, comparison],
        [runs.product, product],
      ];
      for (const [results, side] of round % 2 ? sides : sides.toReversed())
        results.push(await rate(workers, SECONDS, side[kind]));
    }
    const [ours, theirs] = [median(runs.product), median(runs.comparison)];
    rows.push([name, `${ours.toFixed(0)} /s`, `${theirs.toFixed(0)} /s`, (ours / theirs).toFixed(2)]);
    console.error(rows.at(-1).join(' | '));
  }
  reportTable('mcp-token-partitions', {
    title: `MCP tokens in daily partitions, compared with one table: ${TOKENS} tokens of ${DAYS} days, ${CONNECTIONS} concurrent requests, without HTTP`,
    goal: 'ratios at least 1, except without a day',
    columns: ['median', 'with partitions', 'one table', 'ratio'],
    rows,
  });

  await fill(after, -DAYS - 1, TOKENS);
  await after.query('VACUUM ANALYZE mcp_token');
  console.error(`filled ${(await size(after)).toFixed(0)} MB`);
  const beside = (batch) => ({ create: () => batch.create(), lookup: () => batch.find() });
  const quiet = await longest(beside(product), () => pause(5_000));
  const drop = await longest(beside(product), async () => {
    const reader = after.createQueryRunner();
    await reader.query('BEGIN');
    await reader.query('SELECT FROM mcp_token LIMIT 1');
    const dropping = partitions.rotate('mcp_token', new Date(TODAY), { days: 7, expiryColumn: 'expires_at' });
    await pause(SLOW_READER);
    await reader.query('COMMIT');
    await reader.release();
    await dropping;
    await pause(1_000);
  });
  const dropAlone = await afterRefill(after, () =>
    longest(beside(product), async () => {
      await partitions.rotate('mcp_token', new Date(TODAY), { days: 7, expiryColumn: 'expires_at' });
      await pause(1_000);
    }),
  );
  const migration = await longest(beside(comparison), async () => {
    await pause(500);
    await migrate(url);
    await pause(500);
  });
  const milliseconds = (value) => `${value.toFixed(0)} ms`;
  const row = (name, { took, p99, max, count }) => [
    name,
    milliseconds(took),
    String(count),
    ...['create', 'lookup'].flatMap((kind) => [milliseconds(p99[kind]), milliseconds(max[kind])]),
  ];
  reportTable('mcp-token-partitions-waits', {
    title: `Creation and lookup of MCP tokens, 4 concurrent requests each, beside the removal of a day of ${TOKENS} tokens and the migration of a table of ${TOKENS} tokens`,
    goal: 'dropping a day blocks no request for more than 100 ms',
    columns: ['beside', 'took', 'requests', 'creation p99', 'max', 'lookup p99', 'max'],
    rows: [
      row('nothing', quiet),
      row('dropping a day', dropAlone),
      row(`dropping a day that a transaction reads for ${SLOW_READER / 1_000} s`, drop),
      row('the migration, with the statements of the previous release', migration),
    ],
  });
  await before.destroy();
  await after.destroy();
} finally {
  await bench.close();
}

async function connect(url, migrations = MIGRATIONS) {
  return new DataSource({ ...dataSourceOptions({ url, poolSize: 12 }), migrations }).initialize();
}

async function fill(database, day, count) {
  await database.query(
    `${NEW_ROW}
     SELECT sha256(($2 || '/' || n)::bytea), $1, 'production', 'user-' || n % 10000, NULL, created, created + interval '1 day'
       FROM generate_series(0, $3::int - 1) n,
            LATERAL (SELECT to_timestamp($4::float8 / 1000) + n * (interval '1 day' / $3::int) AS created) time`,
    [CLIENT, String(day), count, TODAY + day * DAY],
  );
}

async function afterRefill(database, work) {
  await new DailyPartitions(database).rotate('mcp_token', new Date(TODAY - (DAYS + 1) * DAY), {
    days: 365,
    expiryColumn: 'expires_at',
  });
  await fill(database, -DAYS - 1, TOKENS);
  await database.query('VACUUM ANALYZE mcp_token');
  return work();
}

async function size(database) {
  const [{ bytes }] = await database.query(
    `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class WHERE relname LIKE 'mcp_token%' AND relkind = 'r'`,
  );
  return bytes / 1e6;
}

function newToken() {
  const createdAt = new Date();
  return {
    tokenHash: randomBytes(32),
    clientId: CLIENT,
    environment: 'production',
    externalUserId: 'user-1',
    phoneNumberSealed: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + DAY),
  };
}

/** Finds a stored token that was created on one of the days from the given one until today. */
async function findOne(find, firstDay) {
  const day = firstDay + Math.floor(Math.random() * (1 - firstDay));
  const number = Math.floor((Math.random() * TOKENS) / DAYS);
  const hash = createHash('sha256').update(`${day}/${number}`).digest();
  const found = await find(hash, new Date(TODAY + day * DAY));
  if (found?.externalUserId !== `user-${number % 10_000}`)
    throw new Error(`Token ${number} of day ${day} is missing.`);
}

/** Returns how often per second several workers complete the work. */
async function rate(workers, seconds, work) {
  let done = 0;
  const began = performance.now();
  const until = began + seconds * 1_000;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < until) {
        await work();
        done += 1;
      }
    }),
  );
  return (done * 1_000) / (performance.now() - began);
}

/** Repeats each kind of request with four workers while other work is done, and returns how long the requests took. */
async function longest(kinds, work) {
  let isRunning = true;
  const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  const requests = Object.entries(kinds).flatMap(([kind, send]) =>
    Array.from({ length: 4 }, async () => {
      while (isRunning) {
        const began = performance.now();
        await send();
        times[kind].push(performance.now() - began);
        await pause(1);
      }
    }),
  );
  const began = performance.now();
  await work().finally(() => (isRunning = false));
  const took = performance.now() - began;
  await Promise.all(requests);
  const each = (value) => Object.fromEntries(Object.keys(kinds).map((kind) => [kind, value(times[kind])]));
  return {
    took,
    count: Object.values(times).flat().length,
    p99: each((values) => values.toSorted((left, right) => left - right)[Math.floor(values.length * 0.99)]),
    max: each((values) => values.reduce((left, right) => Math.max(left, right), 0)),
  };
}

function median(values) {
  return values.toSorted((left, right) => left - right)[values.length >> 1];
}
