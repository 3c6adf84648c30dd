import type { Request } from 'express';
import { BodyTurns } from './body-turns.js';

const from = (ip: string): Request => ({ ip, socket: {} }) as Request;

describe('BodyTurns', () => {
  it('lets a client that sends many bodies wait, and not the others', async () => {
    const turns = new BodyTurns(2);
    const order: string[] = [];
    let running = 0;
    const work = (name: string) => async () => {
      running += 1;
      expect(running).toBeLessThanOrEqual(2);
      await new Promise(setImmediate);
      running -= 1;
      order.push(name);
    };
    const many = Array.from({ length: 50 }, (_, index) => turns.run(from('192.0.2.1'), work(`${index}`)));
    await turns.run(from('192.0.2.2'), work('another'));
    expect(order.indexOf('another')).toBeLessThan(3);
    await Promise.all(many);
    expect(order).toHaveLength(51);
  });
});
