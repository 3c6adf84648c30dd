import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpAdapterHost } from '@nestjs/core';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import type { ErasedUsers } from '../../../infrastructure/erasure/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { NewRequestLogEntry } from '../storage/request-log-entry.js';
import type { RequestLogRepository } from '../storage/request-log.repository.js';
import { EntrySpool } from './entry-spool.js';

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
    expect(await spool.read(id)).toEqual(entries);
    await spool.remove(id);
    expect(await spool.ids()).toEqual([]);
    expect(await spool.read(id)).toBeUndefined();
  });

  it('keeps the newest entries that fit into 64 MiB, together with the files that exist', async () => {
    const MEBIBYTE = 1024 * 1024;
    const entries = ['/old', '/new', '/newest'].map((path) => entry(path.padEnd(30 * MEBIBYTE, 'x')));
    expect(await spool.save(entries)).toBe(1);
    const [id = ''] = await spool.ids();
    expect((await spool.read(id))?.map(({ path }) => path?.slice(0, 4))).toEqual(['/new', '/new']);
    expect(await spool.save(entries)).toBe(3);
    expect(await spool.ids()).toEqual([id]);
  });

  it('does not read files that are set aside or not complete', async () => {
    await spool.save([entry('/a')]);
    const [id = ''] = await spool.ids();
    writeFileSync(join(dataDirectory, 'request-log', 'another.ndjson.draft'), '');
    await spool.quarantine(id);
    expect(await spool.ids()).toEqual([]);
    expect(readdirSync(join(dataDirectory, 'request-log'))).toHaveLength(2);
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
    await spool.save([...others, entry('/d')]);
    for (const name of ['killed', 'writing'])
      writeFileSync(join(folder, `${name}.ndjson.draft`), `${JSON.stringify(entry('/e'))}\n`);
    utimesSync(join(folder, 'killed.ndjson.draft'), 0, 0);

    const user = { clientId, environment, externalUserId, pseudonym: 'erased_$&' };
    expect(await spool.eraseBatch(user)).toBe(3);
    expect(await spool.eraseBatch(user)).toBe(0);

    const [id = ''] = await spool.ids();
    expect(await spool.read(id)).toEqual([...others, { ...entry('/d'), externalUserId: 'erased_$&' }]);
    const files = readdirSync(folder).filter((name) => !name.startsWith('writing'));
    expect(files).toHaveLength(2);
    const content = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
    expect(content.match(/erased_/g)).toHaveLength(2);
    expect(content.match(/second line/g)).toHaveLength(2);
  });
});
