import type { OverdueWork } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { EventHorizon } from './event-horizon.js';
import type { WebhookStreamRepository } from './webhook-stream.repository.js';

describe('The horizon', () => {
  let last: number;
  let publishers: string[];
  let horizon: EventHorizon;

  beforeEach(() => {
    [last, publishers] = [0, []];
    const events = { publishing: () => Promise.resolve({ last, publishers: new Set(publishers) }) };
    horizon = new EventHorizon(events as unknown as WebhookStreamRepository, new Clock(), {
      add: () => undefined,
    } as unknown as OverdueWork);
  });

  /** Looks at the database in this state. */
  const look = (position: number, ...open: string[]): Promise<number> => {
    [last, publishers] = [position, open];
    return horizon.advance();
  };

  it('is the last position if no transaction publishes', async () => {
    expect(await look(7)).toBe(7);
    expect(horizon.isWaiting).toBe(false);
  });

  it('waits for a transaction that may still commit an earlier position', async () => {
    expect(await look(7)).toBe(7);
    expect(await look(9, 'a')).toBe(7);
    expect(await look(12, 'a')).toBe(7);
    expect(horizon.isWaiting).toBe(true);
    expect(await look(12)).toBe(12);
  });

  it('advances although there is always a transaction that publishes', async () => {
    expect(await look(3, 'a')).toBe(0);
    expect(await look(5, 'a', 'b')).toBe(0);
    expect(await look(8, 'b', 'c')).toBe(3);
    expect(await look(9, 'c')).toBe(3);
    expect(await look(11, 'd')).toBe(9);
  });

  it('goes back if PostgreSQL assigns positions again after a crash', async () => {
    expect(await look(50)).toBe(50);
    expect(await look(40, 'a')).toBe(40);
    expect(await look(41)).toBe(41);
  });

  it('reaches the present even if nothing has moved it for long', async () => {
    await look(3, 'a');
    [last, publishers] = [90, ['b']];
    const reached = horizon.reach();
    setTimeout(() => (publishers = ['c']), 30);
    expect(await reached).toBe(90);
  });
});
