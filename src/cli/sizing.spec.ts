import { DatabaseConfiguration } from '../infrastructure/database/index.js';
import { DAYS_KEPT_AFTER_EXPIRY } from '../modules/mcp-tokens/index.js';
import { RequestLogsConfiguration } from '../modules/request-logs/index.js';
import { DEFAULTS, sizingOf, type ExpectedLoad } from './sizing.js';

const LOAD: ExpectedLoad = {
  requests: 500,
  deliveryAttempts: 0,
  tokens: 0,
  tokenDays: 1,
  retentionDays: 30,
  peak: 3,
};

describe('Sizing', () => {
  it('uses the defaults of the settings', () => {
    const { retentionDays, readConnections } = new RequestLogsConfiguration();
    const { poolSize } = new DatabaseConfiguration();
    expect(DEFAULTS).toEqual({
      retentionDays,
      readConnections,
      poolSize,
      daysAfterExpiry: DAYS_KEPT_AFTER_EXPIRY,
    });
  });

  it('calculates disk, processes and connections', () => {
    expect(sizingOf(LOAD)).toEqual({
      request_log: { entries_per_day: 43_200_000, gb_per_day: 16, gb: 480 },
      events_gb: 0,
      mcp_tokens_gb: 0,
      wal_gb_per_day: 24,
      disk_gb: 623,
      processes: { http: 2, workers: 2 },
      database: { cores: 2, connections: 66, max_connections: 90 },
      advice: 'One PostgreSQL is enough. A streaming replica can serve the pages of the logs.',
    });
  });

  it('counts an entry and an event for each delivery, and a token until a week after it has expired', () => {
    const { request_log, events_gb, mcp_tokens_gb } = sizingOf({
      ...LOAD,
      requests: 0,
      deliveryAttempts: 100,
      tokens: 100,
    });
    expect(request_log.gb).toBe(314);
    expect(events_gb).toBe(145);
    expect(mcp_tokens_gb).toBe(17.3);
  });

  it('adds processes for the busiest minute', () => {
    expect(sizingOf({ ...LOAD, peak: 10, deliveryAttempts: 350 }).processes).toEqual({ http: 5, workers: 4 });
  });

  it('recommends distribution if one server cannot write or back up so much', () => {
    expect(sizingOf({ ...LOAD, requests: 5_000, peak: 4 }).advice).toBe(
      'One PostgreSQL is too small: it writes 20,000 log entries per second at the peak, and its backup of 6,230 GB ' +
        'takes too long. Keep entries for fewer days, or distribute the request log.',
    );
    expect(sizingOf({ ...LOAD, requests: 5_000, retentionDays: 10 }).advice).toMatch(
      /^One PostgreSQL is enough/,
    );
  });
});
