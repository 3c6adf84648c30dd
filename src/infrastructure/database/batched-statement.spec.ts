import { setImmediate as tick } from 'node:timers/promises';
import { BatchedStatement, RowDropped, type BatchedStatementOptions } from './batched-statement.js';

/** A statement that is under way until the test ends it. */
interface Statement {
  readonly rows: readonly number[];
  commit(): void;
  fail(error: unknown): void;
}

/** Rows are numbers; every statement waits for the test. */
function underControl(options: Partial<BatchedStatementOptions<number>> = {}): {
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
  it('writes in one statement what arrives in one tick', async () => {
    const { batch, statements } = underControl();
    const added = [1, 2, 3].map((row) => batch.add(row));
    await tick();
    expect(statements.map(({ rows }) => rows)).toEqual([[1, 2, 3]]);
    statements[0]?.commit();
    expect(await outcomes(added)).toEqual(['committed', 'committed', 'committed']);
  });

  it('answers only when the row is committed', async () => {
    const { batch, statements } = underControl();
    let answered = false;
    const added = batch.add(1).then(() => (answered = true));
    await tick();
    await tick();
    expect(answered).toBe(false);
    statements[0]?.commit();
    await added;
    expect(answered).toBe(true);
  });

  it('gathers what arrives while a statement is under way, in the order of arrival', async () => {
    const { batch, statements } = underControl();
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

  it('answers each row with what its statement told of it, also after a neighbour was refused', async () => {
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

  it('bounds the rows of a statement and the statements under way', async () => {
    const { batch, statements } = underControl({ maxRows: 2, maxStatements: 2 });
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

  it('rejects the row that the database refuses, and it alone', async () => {
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

  it('rejects every row of a hopeless statement with its own error', async () => {
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

  it('tries a batch again as long as the error promises something', async () => {
    let failures = 3;
    const attempts: (readonly number[])[] = [];
    const batch = new BatchedStatement<number>({
      maxRows: 100,
      maxStatements: 1,
      retryAfter: (error) => ((error as Error).message === 'away' ? 5 : undefined),
      execute: async (rows) => {
        attempts.push(rows);
        failures -= 1;
        if (failures >= 0) throw new Error('away');
      },
    });
    const first = batch.add(1);
    await tick();
    const second = batch.add(2);
    expect(await outcomes([first, second])).toEqual(['committed', 'committed']);
    // The second row came while the first waited; from then on they go together, the older one first.
    expect(attempts).toEqual([[1], [1, 2], [1, 2], [1, 2]]);
  });

  it('lets the oldest go when too many are waiting', async () => {
    const { batch, statements } = underControl({ maxWaiting: 2 });
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

  it('keeps to the bound when a batch comes back to be tried again', async () => {
    const { batch, statements } = underControl({ maxWaiting: 2, retryAfter: () => 1 });
    const added = [batch.add(1), batch.add(2)];
    await tick();
    added.push(batch.add(3));
    statements[0]?.fail(new Error('away'));
    expect(await outcomes(added.slice(0, 1))).toEqual([DROPPED]);
    while (statements.length < 2) await tick();
    expect(statements[1]?.rows).toEqual([2, 3]);
    statements[1]?.commit();
    expect(await outcomes(added)).toEqual([DROPPED, 'committed', 'committed']);
  });

  it('is idle when nothing waits and nothing is under way', async () => {
    const { batch, statements } = underControl();
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

  it('is idle also when the last batch failed', async () => {
    const { batch, statements } = underControl();
    const added = batch.add(1);
    const idle = batch.idle();
    await tick();
    statements[0]?.fail(new Error('refused'));
    expect(await outcomes([added])).toEqual(['refused']);
    await idle;
  });
});
