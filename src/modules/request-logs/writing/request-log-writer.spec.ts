import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import type { ErasedUsers } from '../../../infrastructure/erasure/index.js';
import { Metrics } from '../../../infrastructure/metrics/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import type { RequestLogRepository } from '../storage/request-log.repository.js';
import { RequestLogWriter } from './request-log-writer.js';
import { EntrySpool } from './entry-spool.js';

/** When `onTermination` ends the process. */
const STOP_TIMEOUT = 20_000;

describe('RequestLogWriter', () => {
  it('saves entries of running statements before the process is ended, if the steps before took long', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'request-log-writer-'));
    const database = { append: () => new Promise<void>(() => undefined) } as unknown as RequestLogRepository;
    const service = Object.assign(new ServiceConfiguration(), { dataDirectory });
    const erased = { pseudonymize: async (entries) => entries } as ErasedUsers;
    const files = new EntrySpool(service, database, erased, new Clock(), new HttpAdapterHost());
    const writer = new RequestLogWriter(
      database,
      new RequestLogsConfiguration(),
      new Metrics(),
      files,
      erased,
      new Clock(),
    );
    const client = { clientId: '00000000-0000-4000-8000-000000000001', environment: 'production' } as const;
    await writer.record({
      ...client,
      method: 'POST',
      path: '/running',
      statusCode: 200,
      latencyMilliseconds: 1,
      body: undefined,
      requestId: 'one',
      ip: '203.0.113.7',
      userAgent: '',
    });
    const errors = import.meta.jest.spyOn(Logger.prototype, 'error');
    const begin = performance.now();
    // Connections, handlers and tasks have taken their time.
    const elapsed = import.meta.jest
      .spyOn(performance, 'now')
      .mockImplementation(() => begin + STOP_TIMEOUT - 4_000);
    try {
      await writer.close(begin + STOP_TIMEOUT - 3_000);
      const folder = join(dataDirectory, 'request-log');
      const [file = ''] = readdirSync(folder);
      expect(readFileSync(join(folder, file), 'utf8')).toContain('/running');
      expect(errors).not.toHaveBeenCalled();
    } finally {
      errors.mockRestore();
      elapsed.mockRestore();
      rmSync(dataDirectory, { recursive: true });
    }
  });
});
