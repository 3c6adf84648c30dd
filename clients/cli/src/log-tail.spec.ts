import { LogTail, type LogEntry, type LogFilters } from './log-tail.js';

const PAGE = 50;

/** A request log that lists entries as the service does, with a clock of its own. */
class FakeLog {
  private readonly entries: { readonly time: number; readonly visible: number; readonly entry: LogEntry }[] =
    [];
  private readonly requests: number[] = [];
  /** Milliseconds that a request takes. */
  latency = 0;

  constructor(public time: number) {}

  /** @param visible when the entry is in the log */
  add(id: number, time: number, visible = time): void {
    const entry = { id, datetime: new Date(time).toISOString() } as LogEntry;
    this.entries.push({ time, visible, entry });
  }

  readonly listRequestLogs = ({ start, end, cursor }: LogFilters): never => {
    this.requests.push(this.time);
    this.time += this.latency;
    const [first, last] = [Date.parse(start ?? '') || 0, Date.parse(end ?? '') || this.time];
    const [before, beforeId] = cursor?.split(' ').map(Number) ?? [Infinity, 0];
    const selected = this.entries
      .filter(({ time, visible }) => time >= first && time <= last && visible <= this.time)
      .filter(({ time, entry }) => time < before! || (time === before && entry.id < beforeId!))
      .toSorted((left, right) => right.time - left.time || right.entry.id - left.entry.id);
    const shown = selected.slice(0, PAGE);
    const next = selected.length > PAGE ? `${shown.at(-1)?.time} ${shown.at(-1)?.entry.id}` : null;
    const page = { data: shown.map(({ entry }) => entry), next_cursor: next, limit: PAGE };
    return Promise.resolve(page) as never;
  };

  /** Returns the largest number of requests within a minute. */
  requestsPerMinute(): number {
    const within = (begin: number) => (time: number) => time >= begin && time < begin + 60_000;
    return Math.max(...this.requests.map((begin) => this.requests.filter(within(begin)).length));
  }
}

const idsOf = (entries: readonly LogEntry[]): number[] => entries.map(({ id }) => id);

describe('Following the request log', () => {
  let log: FakeLog;
  let tail: LogTail;
  const now = Date.now();

  beforeEach(() => {
    log = new FakeLog(now);
    tail = new LogTail(log, { environment: 'development' }, () => log.time);
  });

  /** Looks as often as the command does. */
  async function follow<Value = LogEntry>(
    milliseconds: number,
    valueOf = (entry: LogEntry): Value => entry as Value,
  ): Promise<Value[]> {
    const found: Value[] = [];
    const end = log.time + milliseconds;
    while (log.time < end) {
      log.time += tail.interval;
      for (const entry of await tail.look()) found.push(valueOf(entry));
    }
    return found;
  }

  it('begins with the last entries, and returns each further entry once, oldest first', async () => {
    for (let id = 1; id <= 20; id += 1) log.add(id, now - 100_000 + id * 1_000);
    expect(idsOf(await tail.begin(3))).toEqual([18, 19, 20]);
    expect(await tail.look()).toEqual([]);
    log.add(21, now - 10_000);
    log.add(22, now - 9_000);
    expect(idsOf(await tail.look())).toEqual([21, 22]);
    expect(await tail.look()).toEqual([]);
  });

  it('begins with as many entries as it should, even if they are on several pages', async () => {
    for (let id = 1; id <= 200; id += 1) log.add(id, now - 900_000 + id * 1_000);
    expect(idsOf(await tail.begin(120))).toEqual(Array.from({ length: 120 }, (_, index) => 81 + index));
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

  it.each([20, 100, 200])(
    'returns each of 200 entries a second once if a page takes %d ms and an entry is up to 5 seconds late',
    async (latency) => {
      log.latency = latency;
      log.add(0, now - 60_000);
      await tail.begin(0);
      for (let id = 1; id <= 12_000; id += 1) log.add(id, now + id * 5, now + id * 5 + Math.random() * 5_000);
      const returned = await follow(75_000, ({ id }) => ({ id, delay: log.time - (now + id * 5) }));
      expect(returned.map(({ id }) => id).toSorted((left, right) => left - right)).toEqual(
        Array.from({ length: 12_000 }, (_, index) => index + 1),
      );
      expect(Math.max(...returned.map(({ delay }) => delay))).toBeLessThan(20_000);
      // The service limits a user to 600 requests a minute, to all operations together.
      expect(log.requestsPerMinute()).toBeLessThanOrEqual(480);
    },
  );

  it('returns entries within 2 seconds as long as there are few', async () => {
    log.add(0, now - 60_000);
    await tail.begin(0);
    for (let id = 1; id <= 100; id += 1) log.add(id, now + id * 500);
    const delays = await follow(55_000, (entry) => log.time - Date.parse(entry.datetime));
    expect(delays).toHaveLength(100);
    expect(Math.max(...delays)).toBeLessThan(2_000);
  });

  it('returns entries within 2 seconds again after a burst', async () => {
    log.add(0, now - 60_000);
    await tail.begin(0);
    for (let id = 1; id <= 1_000; id += 1) log.add(id, now + id);
    log.add(1_001, now + 40_000);
    const delays = await follow(42_000, (entry) => log.time - Date.parse(entry.datetime));
    expect(delays).toHaveLength(1_001);
    expect(delays.at(-1)).toBeLessThan(2_000);
  });

  it('shows the last entries of a busy log, and the following ones once', async () => {
    for (let id = 1; id <= 2_000; id += 1) log.add(id, now - 10_000 + id * 5);
    expect(idsOf(await tail.begin(3))).toEqual([1_998, 1_999, 2_000]);
    for (let id = 2_001; id <= 6_000; id += 1) log.add(id, now - 10_000 + id * 5);
    expect(idsOf(await follow(40_000))).toEqual(Array.from({ length: 4_000 }, (_, index) => index + 2_001));
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
