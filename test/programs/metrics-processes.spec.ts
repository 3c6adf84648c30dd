import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloneDatabase, type TestDatabase } from '../support/database/database.js';
import { scraperOf } from '../support/logs/metrics.js';
import { Program } from '../support/programs/program.js';

describe('main.js and worker.js', () => {
  let database: TestDatabase;
  let dataDirectory: string;

  beforeAll(async () => {
    database = await cloneDatabase();
    dataDirectory = mkdtempSync(join(tmpdir(), 'metrics-'));
  });
  afterAll(async () => {
    await Program.endAll();
    await database.drop();
  });

  const start = (file: string, port = '0', more: Record<string, string> = {}): Program =>
    new Program(file, {
      environment: {
        ...more,
        DATA_DIR: dataDirectory,
        DATABASE_URL: database.url,
        PORT: '0',
        METRICS_PORT: port,
      },
    });

  it.each(['main.js', 'worker.js'])(
    '%s serves metrics until it stops',
    async (file) => {
      const program = start(file);
      const [, url = ''] = await program.waitForOutput(/^Metrics: (http:\/\/127\.0\.0\.1:\d+\/metrics)$/m);
      await program.waitForOutput(/^(?:Listening on|The background work is running)/m);
      const scraper = scraperOf(url);
      expect(await scraper.value('mcs_webhook_worker_last_poll_age_seconds')).toBeLessThan(100);
      expect(await scraper.value('mcs_webhook_deliveries', { state: 'waiting' })).toBe(0);

      // A second process with the same port.
      const second = await start(file, new URL(url).port).ended;
      expect(second.code).toBe(1);
      expect(second.errors).toBe(
        `METRICS_PORT=${new URL(url).port} is in use. Stop the program that listens there, or set METRICS_PORT to another port.\n`,
      );

      program.signal('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 0, errors: '' });
      await expect(fetch(url)).rejects.toThrow();
    },
    60_000,
  );

  it.each([
    ['worker.js', 0, 1],
    ['main.js', 1, 0],
  ])(
    '%s reports a lost Redis only if it needs it',
    async (file, lost, unconfigured) => {
      const program = start(file, '0', { REDIS_URL: 'redis://127.0.0.1:1/0' });
      const [, url = ''] = await program.waitForOutput(/^Metrics: (http:\/\/127\.0\.0\.1:\d+\/metrics)$/m);
      await program.waitForOutput(/^(?:Listening on|The background work is running)/m);
      const scraper = scraperOf(url);
      expect(await scraper.value('mcs_redis_state', { state: 'lost' })).toBe(lost);
      expect(await scraper.value('mcs_redis_state', { state: 'unconfigured' })).toBe(unconfigured);
      program.signal('SIGTERM');
      await program.ended;
    },
    60_000,
  );
});
