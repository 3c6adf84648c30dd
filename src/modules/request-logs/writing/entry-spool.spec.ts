import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HttpAdapterHost } from '@nestjs/core';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import type { ErasedUsers } from '../../../infrastructure/erasure/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { LoggedAttempt, NewRequestLogEntry } from '../request-log-entry.js';
import type { RequestLogRepository } from '../storage/request-log.repository.js';
import { countSavedFiles, EntrySpool } from './entry-spool.js';

const entry = (path: string): NewRequestLogEntry => ({
  clientId: '00000000-0000-4000-8000-000000000001',
  environment: 'production',
  createdAt: new Date('2026-03-15T12:00:00.123Z'),
  type: 'request',
  method: 'POST',
  path,
  url: null,
  event: null,
  statusCode: 200,
  latencyMilliseconds: 7,
  sessionId: null,
  taskId: null,
  externalUserId: 'first line\nsecond line',
  tool: null,
  agent: null,
});

/** Returns the entries of a file. */
async function savedIn(id: string): Promise<NewRequestLogEntry[]> {
  const entries: NewRequestLogEntry[] = [];
  for await (const page of spool.read(id)) entries.push(...page);
  return entries;
}

let dataDirectory: string;
let spool: EntrySpool;

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'entry-spool-'));
  const service = Object.assign(new ServiceConfiguration(), { dataDirectory });
  const database = undefined as unknown as RequestLogRepository;
  const erased = undefined as unknown as ErasedUsers;
  spool = new EntrySpool(service, database, erased, new Clock(), new HttpAdapterHost());
});
afterEach(() => rmSync(dataDirectory, { recursive: true }));

describe('EntrySpool', () => {
  it('reads the entries that were saved, in their order', async () => {
    const entries = ['/a', '/b', '/c'].map(entry);
    expect(await spool.save(entries)).toBe(0);
    const [id = ''] = await spool.ids();
    expect(await savedIn(id)).toEqual(entries);
    await spool.remove(id);
    expect(await spool.ids()).toEqual([]);
    expect(await savedIn(id)).toEqual([]);
  });

  it('reads a file page by page, and nothing behind a page that is not used', async () => {
    await spool.save(Array.from({ length: 2_500 }, () => entry('/a')));
    const [id = ''] = await spool.ids();
    appendFileSync(join(dataDirectory, 'request-log', `${id}.ndjson`), 'not JSON');
    const pages = spool.read(id);
    for (const length of [1_000, 1_000]) expect((await pages.next()).value).toHaveLength(length);
    await expect(pages.next()).rejects.toThrow('not valid JSON');
  });

  it('holds one line of a file at a time while it looks for an erased user', async () => {
    await spool.save([entry('/a\u2028'), entry('/b')]);
    const MEBIBYTE = 1024 * 1024;
    // More than a string can hold. On disk, the file has only its line feeds.
    const file = openSync(join(dataDirectory, 'request-log', 'large.ndjson.refused'), 'w');
    for (let megabytes = 10; megabytes <= 600; megabytes += 10) writeSync(file, '\n', megabytes * MEBIBYTE);
    closeSync(file);
    const { clientId, environment, externalUserId } = entry('/a') as {
      externalUserId: string;
    } & NewRequestLogEntry;
    const user = { clientId, environment, externalUserId, organizationId: '', pseudonym: 'erased_1' };
    expect(await spool.eraseBatch(user)).toBe(2);
    const [id = ''] = await spool.ids();
    const anonymous = [entry('/a\u2028'), entry('/b')].map((each) => ({
      ...each,
      externalUserId: 'erased_1',
      ip: null,
      userAgent: null,
      errorMessage: null,
    }));
    expect(await savedIn(id)).toEqual(anonymous);
  });

  it('keeps the newest entries that fit into 64 MiB, together with the files that exist', async () => {
    const MEBIBYTE = 1024 * 1024;
    const entries = ['/old', '/new', '/newest'].map((path) => entry(path.padEnd(30 * MEBIBYTE, 'x')));
    expect(await spool.save(entries)).toBe(1);
    const [id = ''] = await spool.ids();
    expect((await savedIn(id)).map(({ path }) => path?.slice(0, 4))).toEqual(['/new', '/new']);
    expect(await spool.save(entries)).toBe(3);
    expect(await spool.ids()).toEqual([id]);
  });

  it('looks again for what others have left, which may stop after it has started', async () => {
    class Impatient extends EntrySpool {
      protected override readonly lookInterval = 10;
    }
    const service = Object.assign(new ServiceConfiguration(), { dataDirectory });
    const none = undefined as never;
    const other = new Impatient(service, none, none, new Clock(), { httpAdapter: {} } as HttpAdapterHost);
    const draft = join(dataDirectory, 'request-log', 'killed.ndjson.draft');
    try {
      other.onApplicationBootstrap();
      await spool.save([]);
      writeFileSync(draft, '');
      utimesSync(draft, 0, 0);
      while (existsSync(draft)) await pause(10);
    } finally {
      await other.onModuleDestroy();
    }
  });

  it('does not read files that are set aside or not complete', async () => {
    await spool.save([entry('/a')]);
    const [id = ''] = await spool.ids();
    writeFileSync(join(dataDirectory, 'request-log', 'another.ndjson.draft'), '');
    await spool.quarantine(id);
    expect(await spool.ids()).toEqual([]);
    expect(readdirSync(join(dataDirectory, 'request-log'))).toHaveLength(2);
  });

  it('has room for new entries, whatever is set aside, and counts both', async () => {
    const MEBIBYTE = 1024 * 1024;
    await spool.save([entry('/refused'.padEnd(60 * MEBIBYTE, 'x'))]);
    const [id = ''] = await spool.ids();
    await spool.quarantine(id);
    expect(await spool.save([entry('/new'.padEnd(10 * MEBIBYTE, 'x'))])).toBe(0);
    expect(await spool.count()).toEqual({ waiting: 1, refused: 1 });
    expect(await countSavedFiles(dataDirectory)).toEqual(await spool.count());
  });

  it('replaces the identifier of an erased user, whichever state the file is in', async () => {
    const folder = join(dataDirectory, 'request-log');
    const { clientId, environment, externalUserId } = entry('/a') as {
      externalUserId: string;
    } & NewRequestLogEntry;
    const others = [
      { ...entry('/b'), externalUserId: 'first line' },
      { ...entry('/c'), clientId: '00000000-0000-4000-8000-000000000002' },
    ];
    await spool.save([entry('/a'), ...others]);
    await spool.quarantine((await spool.ids())[0] ?? '');
    const attempt = { phases: {}, responseBody: 'second line' } as LoggedAttempt;
    await spool.save([...others, { ...entry('/d'), errorMessage: 'No user second line', attempt }]);
    for (const name of ['killed', 'writing'])
      writeFileSync(join(folder, `${name}.ndjson.draft`), `${JSON.stringify(entry('/e'))}\n`);
    utimesSync(join(folder, 'killed.ndjson.draft'), 0, 0);

    const user = { clientId, organizationId: '', environment, externalUserId, pseudonym: 'erased_$&' };
    expect(await spool.eraseBatch(user)).toBe(3);
    expect(await spool.eraseBatch(user)).toBe(0);

    const [id = ''] = await spool.ids();
    const anonymous = {
      ...entry('/d'),
      externalUserId: 'erased_$&',
      ip: null,
      userAgent: null,
      errorMessage: null,
      attempt: { ...attempt, responseBody: null },
    };
    expect(await savedIn(id)).toEqual([...others, anonymous]);
    const files = readdirSync(folder).filter((name) => !name.startsWith('writing'));
    expect(files).toHaveLength(2);
    const content = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
    expect(content.match(/erased_/g)).toHaveLength(2);
    expect(content.match(/second line/g)).toHaveLength(2);
  });
});
