import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { Slots } from './slots.js';

const NEVER = new AbortController().signal;

describe('Slots', () => {
  it('are given in the order of asking', async () => {
    const slots = new Slots();
    const order: number[] = [];
    await Promise.all(
      [0, 1, 2, 3, 4].map(async (index) => {
        const give = await slots.take('a', 2, NEVER);
        order.push(index);
        await turn();
        give();
      }),
    );
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it('of one name do not keep another name waiting', async () => {
    const slots = new Slots();
    await slots.take('a', 1, NEVER);
    await expect(slots.take('b', 1, NEVER)).resolves.toBeDefined();
  });

  it('are given on when they came at the moment in which somebody gave up', async () => {
    const slots = new Slots();
    const give = await slots.take('a', 1, NEVER);
    const impatient = new AbortController();
    const taken = slots.take('a', 1, impatient.signal);
    impatient.abort(new Error('no patience'));
    give();
    await expect(taken).rejects.toThrow('no patience');
    await expect(slots.take('a', 1, AbortSignal.timeout(100))).resolves.toBeDefined();
  });

  it('are not lost when somebody gives up, and never more than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ patience: fc.nat({ max: 6 }), use: fc.nat({ max: 3 }) }), { maxLength: 20 }),
        async (limit, users) => {
          const slots = new Slots();
          let inside = 0;
          await Promise.all(
            users.map(async ({ patience, use }) => {
              const patient = new AbortController();
              const losePatience = async (): Promise<void> => {
                for (let turns = 0; turns < patience; turns += 1) await turn();
                patient.abort(new Error('no patience'));
              };
              void losePatience();
              const give = await slots.take('a', limit, patient.signal).catch(() => undefined);
              if (give === undefined) return;
              inside += 1;
              expect(inside).toBeLessThanOrEqual(limit);
              for (let turns = 0; turns < use; turns += 1) await turn();
              inside -= 1;
              give();
            }),
          );
          // All are free again, and nothing is remembered of the name.
          await Promise.all(Array.from({ length: limit }, () => slots.take('a', limit, NEVER)));
        },
      ),
      { numRuns: 200 },
    );
  });
});
