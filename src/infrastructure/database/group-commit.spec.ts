import { setImmediate as tick } from 'node:timers/promises';
import { GroupCommit, RowDropped, type GroupCommitOptions } from './group-commit.js';

/** A statement that is under way until the test ends it. */
interface Statement {
  readonly rows: readonly number[];
  commit(): void;
  fail(error: unknown): void;
}

/** Rows are numbers; every statement waits for the test. */
function underControl(options: Partial<GroupCommitOptions<number>> = {}): {
  group: GroupCommit<number>;
  statements: Statement[];
} {
  const statements: Statement[] = [];
  const group = new GroupCommit<number>({
    maximumRows: 100,
    maximumStatements: 1,
    ...options,
    write: (rows) =>
      new Promise((resolve, reject) => void statements.push({ rows, commit: resolve, fail: reject })),
  });
  return { group, statements };
}

const outcomes = async (promises: readonly Promise<void>[]): Promise<string[]> =>
  (await Promise.allSettled(promises)).map((outcome) =>
    outcome.status === 'fulfilled' ? 'committed' : String((outcome.reason as Error).message),
  );

const DROPPED = new RowDropped().message;

describe('GroupCommit', () => {
  it('writes in one statement what arrives in one tick', async () => {
    const { group, statements } = underControl();
    const added = [1, 2, 3].map((row) => group.add(row));
    await tick();
    expect(statements.map(({ rows }) => rows)).toEqual([[1, 2, 3]]);
    statements[0]?.commit();
    expect(await outcomes(added)).toEqual(['committed', 'committed', 'committed']);
  });

  it('answers only when the row is committed', async () => {
    const { group, statements } = underControl();
    let answered = false;
    const added = group.add(1).then(() => (answered = true));
    await tick();
    await tick();
    expect(answered).toBe(false);
    statements[0]?.commit();
    await added;
    expect(answered).toBe(true);
  });

  it('gathers what arrives while a statement is under way, in the order of arrival', async () => {
    const { group, statements } = underControl();
    const added = [group.add(1)];
    await tick();
    added.push(group.add(2), group.add(3));
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

  it('bounds the rows of a statement and the statements under way', async () => {
    const { group, statements } = underControl({ maximumRows: 2, maximumStatements: 2 });
    const added = [1, 2, 3, 4, 5].map((row) => group.add(row));
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
    const group = new GroupCommit<number>({
      maximumRows: 100,
      maximumStatements: 1,
      write: async (rows) => {
        if (rows.includes(13)) throw new Error('13 is refused');
        written.push(...rows);
      },
    });
    expect(await outcomes([11, 12, 13, 14].map((row) => group.add(row)))).toEqual([
      'committed',
      'committed',
      '13 is refused',
      'committed',
    ]);
    expect(written).toEqual([11, 12, 14]);
  });

  it('rejects every row of a hopeless statement with its own error', async () => {
    const group = new GroupCommit<number>({
      maximumRows: 100,
      maximumStatements: 1,
      write: async (rows) => {
        throw new Error(`refused ${rows.join()}`);
      },
    });
    expect(await outcomes([1, 2].map((row) => group.add(row)))).toEqual(['refused 1', 'refused 2']);
    expect(await outcomes([group.add(3)])).toEqual(['refused 3']);
  });

  it('tries a group again as long as the error promises something', async () => {
    let failures = 3;
    const attempts: (readonly number[])[] = [];
    const group = new GroupCommit<number>({
      maximumRows: 100,
      maximumStatements: 1,
      retryAfter: (error) => ((error as Error).message === 'away' ? 5 : undefined),
      write: async (rows) => {
        attempts.push(rows);
        failures -= 1;
        if (failures >= 0) throw new Error('away');
      },
    });
    const first = group.add(1);
    await tick();
    const second = group.add(2);
    expect(await outcomes([first, second])).toEqual(['committed', 'committed']);
    // The second row came while the first waited; from then on they go together, the older one first.
    expect(attempts).toEqual([[1], [1, 2], [1, 2], [1, 2]]);
  });

  it('lets the oldest go when too many are waiting', async () => {
    const { group, statements } = underControl({ maximumWaiting: 2 });
    const first = group.add(1);
    await tick();
    const others = outcomes([2, 3, 4].map((row) => group.add(row)));
    statements[0]?.commit();
    await first;
    await tick();
    await tick();
    statements[1]?.commit();
    expect(await others).toEqual([DROPPED, 'committed', 'committed']);
    expect(statements[1]?.rows).toEqual([3, 4]);
  });

  it('keeps to the bound when a group comes back to be tried again', async () => {
    const { group, statements } = underControl({ maximumWaiting: 2, retryAfter: () => 1 });
    const added = [group.add(1), group.add(2)];
    await tick();
    added.push(group.add(3));
    statements[0]?.fail(new Error('away'));
    expect(await outcomes(added.slice(0, 1))).toEqual([DROPPED]);
    while (statements.length < 2) await tick();
    expect(statements[1]?.rows).toEqual([2, 3]);
    statements[1]?.commit();
    expect(await outcomes(added)).toEqual([DROPPED, 'committed', 'committed']);
  });

  it('is idle when nothing waits and nothing is under way', async () => {
    const { group, statements } = underControl();
    await group.idle();
    const added = [group.add(1)];
    let idle = false;
    const waiting = group.idle().then(() => (idle = true));
    await tick();
    added.push(group.add(2));
    statements[0]?.commit();
    await added[0];
    await tick();
    await tick();
    expect(idle).toBe(false);
    statements[1]?.commit();
    await waiting;
    expect(await outcomes(added)).toEqual(['committed', 'committed']);
  });

  it('is idle also when the last group failed', async () => {
    const { group, statements } = underControl();
    const added = group.add(1);
    const idle = group.idle();
    await tick();
    statements[0]?.fail(new Error('refused'));
    expect(await outcomes([added])).toEqual(['refused']);
    await idle;
  });
});
