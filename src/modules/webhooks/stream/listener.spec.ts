import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';
import type { StreamedEvent } from './webhook-stream.repository.js';
import { Listener, type ListenerSource } from './listener.js';

const event = (position: number): StreamedEvent => ({
  event: { id: `event-${position}`, name: 'CARD_UPDATED', sessionId: null, body: Buffer.from('{}') },
  secretVersions: [1],
  position,
});

describe('A listener', () => {
  let response: PassThrough;
  let source: ListenerSource;
  let horizon: number;
  let hasValidCredentials: boolean;
  let read: number[];

  beforeEach(() => {
    response = new PassThrough({ highWaterMark: 1_000 });
    [horizon, hasValidCredentials, read] = [0, true, []];
    source = {
      horizon: () => horizon,
      between: (after, last) => {
        read.push(after);
        const positions = [after + 1, after + 2].filter((position) => position <= last);
        return Promise.resolve(positions.map(event));
      },
      messageOf: ({ event: { id } }) => Promise.resolve(`id: ${id}\ndata: ${'x'.repeat(300)}\n\n`),
      isAuthenticated: () => Promise.resolve(hasValidCredentials),
    };
  });

  const start = (timing = {}): { listener: Listener; ended: Promise<void> } => {
    const listener = new Listener('client', 0, response as unknown as Response, source, {
      keepAliveInterval: 60_000,
      stalledAfter: 60_000,
      ...timing,
    });
    return { listener, ended: listener.run() };
  };
  const idsOf = (text: string): string[] => text.match(/(?<=id: )\S+/g) ?? [];

  it('sends all events up to the horizon, and later ones when it is woken', async () => {
    let text = '';
    response.on('data', (part) => (text += part));
    horizon = 3;
    const { listener, ended } = start();
    await pause(20);
    expect(idsOf(text)).toEqual(['start-0', 'event-1', 'event-2', 'event-3']);
    horizon = 5;
    await pause(20);
    expect(idsOf(text)).toHaveLength(4);
    listener.wake();
    await pause(20);
    expect(idsOf(text).slice(4)).toEqual(['event-4', 'event-5']);
    listener.end();
    await ended;
    expect(response.writableEnded).toBe(true);
  });

  it('reads no more events than the client takes', async () => {
    horizon = 1_000;
    const { listener, ended } = start();
    await pause(30);
    expect(read.length).toBeLessThan(10);
    expect(response.writableLength + response.readableLength).toBeLessThan(5_000);
    listener.end();
    response.resume();
    await ended;
  });

  it('disconnects a client that does not read', async () => {
    horizon = 1_000;
    const { ended } = start({ stalledAfter: 30 });
    await ended;
    expect(response.destroyed).toBe(true);
  });

  it('sends a comment when there is nothing else to send, until the credentials are no longer valid', async () => {
    let text = '';
    response.on('data', (part) => (text += part));
    const { ended } = start({ keepAliveInterval: 10 });
    await pause(50);
    expect(text.match(/^: keep-alive\n\n/gm)?.length).toBeGreaterThan(1);
    hasValidCredentials = false;
    await ended;
    expect(response.writableEnded).toBe(true);
  });

  it('checks the credentials even if there are always new events', async () => {
    response.resume();
    const { listener, ended } = start({ keepAliveInterval: 20 });
    const publishing = setInterval(() => {
      horizon += 1;
      listener.wake();
    }, 2);
    hasValidCredentials = false;
    await ended;
    clearInterval(publishing);
  });

  it('ends when the client disconnects', async () => {
    const { ended } = start();
    response.destroy();
    await ended;
  });
});
