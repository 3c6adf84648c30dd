import { setImmediate as tick, setTimeout as pause } from 'node:timers/promises';
import { BatchedStatement, RowDropped, type BatchedStatementOptions } from './batched-statement.js';

/** A statement that runs until the test ends it. */
interface Statement {
  readonly rows: readonly number[];
  commit(): void;
  fail(error: unknown): void;
}

/** Returns a batch of numbers whose statements the test controls. */
function controlledBatch(options: Partial<BatchedStatementOptions<number>> = {}): {
  batch: BatchedStatement<number>;
  statements: Statement[];
} {
  const statements: Statement[] = [];
  const batch = new BatchedStatement<number>({
    maxRows: 100,
    maxStatements: 1,
    ...options,
    execute: (rows) =>
      new Promise((resolve, reject) => void statements.push({ rows, commit: resolve, fail: reject })),
  });
  return { batch, statements };
}

const outcomes = async (promises: readonly Promise<void>[]): Promise<string[]> =>
  (await Promise.allSettled(promises)).map((outcome) =>
    outcome.status === 'fulfilled' ? 'committed' : String((outcome.reason as Error).message),
  );

const DROPPED = new RowDropped().message;

describe('BatchedStatement', () => {
  it('sends rows of one tick in one statement', async () => {
    const { batch, statements } = controlledBatch();
    const added = [1, 2, 3].map((row) => batch.add(row));
    await tick();
    expect(statements.map(({ rows }) => rows)).toEqual([[1, 2, 3]]);
    statements[0]?.commit();
    expect(await outcomes(added)).toEqual(['committed', 'committed', 'committed']);
  });

  it('resolves only when the row is committed', async () => {
    const { batch, statements } = controlledBatch();
    let isResolved = false;
    const added = batch.add(1).then(() => (isResolved = true));
    await tick();
    await tick();
    expect(isResolved).toBe(false);
    statements[0]?.commit();
    await added;
    expect(isResolved).toBe(true);
  });

  it('collects rows while a statement is running, in order', async () => {
    const { batch, statements } = controlledBatch();
    const added = [batch.add(1)];
    await tick();
    added.push(batch.add(2), batch.add(3));
    await tick();
    expect(statements).toHaveLength(1);
    statements[0]?.commit();
    await added[0];
    await tick();
    await tick();
    expect(statements.map(({ rows }) => rows)).toEqual([[1], [2, 3]]);
    statements[1]?.commit();
    expect(await outcomes(added)).toEqual(['committed', 'committed', 'committed']);
  });

  it('returns the result of each row, even if another row of the batch fails', async () => {
    const batch = new BatchedStatement<number, string>({
      maxRows: 100,
      maxStatements: 1,
      execute: async (rows) => {
        if (rows.includes(13)) throw new Error('13 is refused');
        return rows.map((row) => `row ${row} of ${rows.length}`);
      },
    });
    expect(await Promise.all([1, 2].map((row) => batch.add(row)))).toEqual(['row 1 of 2', 'row 2 of 2']);
    const [one, refused] = await Promise.allSettled([1, 13].map((row) => batch.add(row)));
    expect([one, refused?.status]).toEqual([{ status: 'fulfilled', value: 'row 1 of 1' }, 'rejected']);
  });

  it('limits the rows per statement and the concurrent statements', async () => {
    const { batch, statements } = controlledBatch({ maxRows: 2, maxStatements: 2 });
    const added = [1, 2, 3, 4, 5].map((row) => batch.add(row));
    for (let turn = 0; turn < 5; turn += 1) await tick();
    expect(statements.map(({ rows }) => rows)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    statements[0]?.commit();
    for (let turn = 0; turn < 5; turn += 1) await tick();
    expect(statements[2]?.rows).toEqual([5]);
    statements[1]?.commit();
    statements[2]?.commit();
    expect(await outcomes(added)).toEqual(Array(5).fill('committed'));
  });

  it('waits between two statements, unless the next one is full', async () => {
    const { batch, statements } = controlledBatch({ minInterval: 1_000, maxRows: 3 });
    const begin = performance.now();
    const first = batch.add(1);
    await tick();
    await tick();
    expect(statements).toHaveLength(1);
    statements[0]?.commit();
    await first;
    const second = batch.add(2);
    await pause(20);
    expect(statements).toHaveLength(1);
    while (statements.length === 1) await pause(1);
    expect(performance.now() - begin).toBeGreaterThan(990);
    statements[1]?.commit();
    await second;
    const full = [3, 4, 5].map((row) => batch.add(row));
    await tick();
    await tick();
    expect(statements.map(({ rows }) => rows)).toEqual([[1], [2], [3, 4, 5]]);
    statements[2]?.commit();
    await Promise.all(full);
  });

  it('begins a statement beside another only if that one takes long', async () => {
    const { batch, statements } = controlledBatch({ maxStatements: 2, aloneFor: 100 });
    const begin = performance.now();
    const rows = [batch.add(1)];
    await pause(20);
    rows.push(batch.add(2));
    await pause(20);
    expect(statements).toHaveLength(1);
    while (statements.length === 1) await pause(1);
    expect(performance.now() - begin).toBeGreaterThan(95);
    for (const { commit } of statements) commit();
    await Promise.all(rows);
  });

  it('rejects only the row that the database refuses', async () => {
    const written: number[] = [];
    const batch = new BatchedStatement<number>({
      maxRows: 100,
      maxStatements: 1,
      execute: async (rows) => {
        if (rows.includes(13)) throw new Error('13 is refused');
        written.push(...rows);
      },
    });
    expect(await outcomes([11, 12, 13, 14].map((row) => batch.add(row)))).toEqual([
      'committed',
      'committed',
      '13 is refused',
      'committed',
    ]);
    expect(written).toEqual([11, 12, 14]);
  });

  it('rejects each row with its own error if all fail', async () => {
    const batch = new BatchedStatement<number>({
      maxRows: 100,
      maxStatements: 1,
      execute: async (rows) => {
        throw new Error(`refused ${rows.join()}`);
      },
    });
    expect(await outcomes([1, 2].map((row) => batch.add(row)))).toEqual(['refused 1', 'refused 2']);
    expect(await outcomes([batch.add(3)])).toEqual(['refused 3']);
  });

  it('retries a batch while retryAfter returns a delay', async () => {
    let failures = 3;
    const attempts: (readonly number[])[] = [];
    const batch = new BatchedStatement<number>({
      maxRows: 100,
      maxStatements: 1,
      retryAfter: (error) => ((error as Error).message === 'unavailable' ? 5 : undefined),
      execute: async (rows) => {
        attempts.push(rows);
        failures -= 1;
        if (failures >= 0) throw new Error('unavailable');
      },
    });
    const first = batch.add(1);
    await tick();
    const second = batch.add(2);
    expect(await outcomes([first, second])).toEqual(['committed', 'committed']);
    // The second row arrived while the first one waited; from then on, both are sent together, in order.
    expect(attempts).toEqual([[1], [1, 2], [1, 2], [1, 2]]);
  });

  it('retries the remaining rows if the database becomes unavailable while each row is executed alone', async () => {
    const answers = ['refused', undefined, 'unavailable', undefined];
    const attempts: (readonly number[])[] = [];
    const batch = new BatchedStatement<number>({
      maxRows: 100,
      maxStatements: 1,
      retryAfter: (error) => ((error as Error).message === 'unavailable' ? 5 : undefined),
      execute: async (rows) => {
        attempts.push(rows);
        const answer = answers.shift();
        if (answer !== undefined) throw new Error(answer);
      },
    });
    expect(await outcomes([1, 2, 3].map((row) => batch.add(row)))).toEqual(Array(3).fill('committed'));
    expect(attempts).toEqual([[1, 2, 3], [1], [2], [2, 3]]);
  });

  it('drops the oldest row when too many are waiting', async () => {
    const { batch, statements } = controlledBatch({ maxWaiting: 2 });
    const first = batch.add(1);
    await tick();
    const others = outcomes([2, 3, 4].map((row) => batch.add(row)));
    statements[0]?.commit();
    await first;
    await tick();
    await tick();
    statements[1]?.commit();
    expect(await others).toEqual([DROPPED, 'committed', 'committed']);
    expect(statements[1]?.rows).toEqual([3, 4]);
  });

  it('keeps the limit when a failed batch waits again', async () => {
    const { batch, statements } = controlledBatch({ maxWaiting: 2, retryAfter: () => 1 });
    const added = [batch.add(1), batch.add(2)];
    await tick();
    added.push(batch.add(3));
    statements[0]?.fail(new Error('unavailable'));
    expect(await outcomes(added.slice(0, 1))).toEqual([DROPPED]);
    while (statements.length < 2) await tick();
    expect(statements[1]?.rows).toEqual([2, 3]);
    statements[1]?.commit();
    expect(await outcomes(added)).toEqual([DROPPED, 'committed', 'committed']);
  });

  it('is idle when no row waits and no statement runs', async () => {
    const { batch, statements } = controlledBatch();
    await batch.idle();
    const added = [batch.add(1)];
    let idle = false;
    const waiting = batch.idle().then(() => (idle = true));
    await tick();
    added.push(batch.add(2));
    statements[0]?.commit();
    await added[0];
    await tick();
    await tick();
    expect(idle).toBe(false);
    statements[1]?.commit();
    await waiting;
    expect(await outcomes(added)).toEqual(['committed', 'committed']);
  });

  it('starts no statement after it was stopped, and returns the waiting rows', async () => {
    const { batch, statements } = controlledBatch({ retryAfter: () => 0 });
    void batch.add(1);
    await tick();
    void batch.add(2);
    expect(batch.stop()).toEqual([2]);
    void batch.add(3);
    statements[0]?.fail(new Error('the server is down'));
    await batch.idle();
    await pause(20);
    expect(statements).toHaveLength(1);
    expect(batch.abandon()).toEqual([1, 3]);
  });

  it('abandons the rows of a statement that does not end, but none that are committed', async () => {
    const { batch, statements } = controlledBatch({ maxRows: 2, maxStatements: 2 });
    const added = [1, 2, 3, 4, 5].map((row) => batch.add(row));
    await tick();
    await tick();
    statements[0]?.commit();
    await Promise.all(added.slice(0, 2));
    expect(batch.stop()).toEqual([5]);
    expect(batch.abandon()).toEqual([3, 4]);
    expect(batch.abandon()).toEqual([]);
  });

  it('is idle after the last batch failed', async () => {
    const { batch, statements } = controlledBatch();
    const added = batch.add(1);
    const idle = batch.idle();
    await tick();
    statements[0]?.fail(new Error('refused'));
    expect(await outcomes([added])).toEqual(['refused']);
    await idle;
  });
});
