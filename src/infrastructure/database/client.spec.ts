import type { Socket } from 'node:net';
import { Client } from './client.js';

describe('A connection without a response', () => {
  it.each([
    ['runs the statement', true, 3, false],
    ['runs the statement', true, 3_000, false],
    ['has finished the statement', false, 3, true],
    ['cannot be asked', undefined, 590, false],
    ['cannot be asked', undefined, 610, true],
  ])('while the server %s (%s), after %d s, is closed: %s', (_text, isRunning, seconds, isClosed) => {
    const client = new Client({ connectionString: 'postgres://127.0.0.1:1/test' });
    const { stream } = Reflect.get(client, 'connection') as unknown as { readonly stream: Socket };
    // The library listens after connecting.
    stream.on('error', () => undefined);
    const now = performance.now();
    const since = now - seconds * 1_000;
    Object.assign(client, { waitingSince: since, heardAt: since, bytesRead: stream.bytesRead });
    expect(client.watch(now)).toBe(true);
    client.examine()(isRunning);
    expect(stream.destroyed).toBe(isClosed);
  });
});
