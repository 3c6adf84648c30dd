import { LogTail, type LogEntry, type LogFilters } from './log-tail.js';

const PAGE = 50;

/** A request log that lists entries as the service does. */
class FakeLog {
  readonly entries: LogEntry[] = [];
  requests = 0;

  add(id: number, milliseconds: number): void {
    this.entries.push({ id, datetime: new Date(milliseconds).toISOString() } as LogEntry);
  }

  readonly listRequestLogs = (query: LogFilters): never => {
    this.requests += 1;
    const selected = this.entries
      .filter(({ datetime }) => !query.start || Date.parse(datetime) >= Date.parse(query.start))
      .filter(({ datetime }) => !query.end || Date.parse(datetime) <= Date.parse(query.end))
      .toSorted(
        (left, right) => Date.parse(right.datetime) - Date.parse(left.datetime) || right.id - left.id,
      );
    const first = Number(query.cursor ?? 0);
    const next = first + PAGE < selected.length ? String(first + PAGE) : null;
    const page = { data: selected.slice(first, first + PAGE), next_cursor: next, limit: PAGE };
    return Promise.resolve(page) as never;
  };
}

const idsOf = (entries: readonly LogEntry[]): number[] => entries.map(({ id }) => id);

describe('Following the request log', () => {
  let log: FakeLog;
  let tail: LogTail;
  const now = Date.now();

  beforeEach(() => {
    log = new FakeLog();
    tail = new LogTail(log, { environment: 'development' });
  });

  it('begins with the last entries, and returns each further entry once, oldest first', async () => {
    for (let id = 1; id <= 20; id += 1) log.add(id, now - 100_000 + id * 1_000);
    expect(idsOf(await tail.begin(3))).toEqual([18, 19, 20]);
    expect(await tail.look()).toEqual([]);
    log.add(21, now - 10_000);
    log.add(22, now - 9_000);
    expect(idsOf(await tail.look())).toEqual([21, 22]);
    expect(await tail.look()).toEqual([]);
  });

  it('begins with an empty log', async () => {
    expect(await tail.begin(10)).toEqual([]);
    log.add(1, now);
    expect(idsOf(await tail.look())).toEqual([1]);
    expect(await tail.look()).toEqual([]);
  });

  it('returns entries that are added late, between entries that it has returned', async () => {
    log.add(1, now - 30_000);
    await tail.begin(1);
    log.add(2, now - 20_000);
    log.add(3, now - 1_000);
    expect(idsOf(await tail.look())).toEqual([2, 3]);
    log.add(4, now - 15_000);
    expect(idsOf(await tail.look())).toEqual([4]);
  });

  it('returns every entry once at 200 entries a second, each of which is up to a second late', async () => {
    log.add(0, now - 60_000);
    await tail.begin(0);
    const waiting = Array.from({ length: 6_000 }, (_, index) => ({
      id: index + 1,
      time: now - 59_000 + index * 5,
      visible: now - 59_000 + index * 5 + Math.random() * 1_000,
    }));
    const returned: number[] = [];
    for (let time = now - 59_000; waiting.length > 0; time += 2_000) {
      for (const { id, time: at } of waiting.filter(({ visible }) => visible <= time)) log.add(id, at);
      waiting.splice(0, Infinity, ...waiting.filter(({ visible }) => visible > time));
      returned.push(...idsOf(await tail.look()));
    }
    expect(returned.toSorted((left, right) => left - right)).toEqual(
      Array.from({ length: 6_000 }, (_, id) => id + 1),
    );
    // 120 pages contain each entry once. Reading again what may have changed must not cost several times as much.
    expect(log.requests).toBeLessThan(500);
  });

  it('catches up after a long interruption in parts, without a gap', async () => {
    log.add(1, now - 3_600_000);
    await tail.begin(1);
    for (let id = 2; id <= 2_000; id += 1) log.add(id, now - 3_600_000 + id * 1_790);
    const parts: number[][] = [];
    while (parts.flat().length < 1_999) parts.push(idsOf(await tail.look()));
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(500);
    expect(parts.flat()).toEqual(Array.from({ length: 1_999 }, (_, index) => index + 2));
  });
});
