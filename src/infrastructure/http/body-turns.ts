import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request } from 'express';
import { KeyedQueue } from '../queues/index.js';
import { clientAddress, rateLimitKeyOfAddress } from './request-origin.js';

/**
 * Limits how many bodies are worked on at a time: of one address, a single one, so that a stranger with many bodies makes only
 * itself wait; of all addresses, as many as given. What waits more than that gets SERVICE_UNAVAILABLE.
 */
export class BodyTurns {
  private readonly ofAddress = new KeyedQueue(1);
  private readonly all: KeyedQueue;

  constructor(max: number) {
    this.all = new KeyedQueue(max);
  }

  /** @throws ApiError SERVICE_UNAVAILABLE */
  run<Result>(request: Request, work: () => Promise<Result>): Promise<Result> {
    const address = rateLimitKeyOfAddress(clientAddress(request));
    return this.ofAddress.run(address, () => this.all.run('all', work));
  }
}

/** Bytes. Reading takes several milliseconds per MiB. Of larger bodies, one is read in each turn of the event loop. */
const LARGE_BODY = 16_384;
const largeBodies = new BodyTurns(1);

/** Reads the content of a body, after those of other large bodies, and frees it. @throws ApiError SERVICE_UNAVAILABLE */
export async function inTurn<Result>(
  request: Request,
  bytes: Buffer,
  read: () => Result | Promise<Result>,
): Promise<Result> {
  if (bytes.length <= LARGE_BODY) return read();
  return largeBodies.run(request, async () => {
    await nextTurn();
    try {
      return await read();
    } finally {
      freeBuffer(bytes);
    }
  });
}

/** Nobody receives what is sent here, so Node.js frees it. `structuredClone` would leave it to the next collection of all garbage. */
const { port1: receiver, port2: discarded } = new MessageChannel();
receiver.close();

/**
 * Frees the memory of a large buffer that nobody uses any more: V8 keeps 64 MB of such memory before it looks for garbage
 * (docs/decisions/0041-hostile-input.md). Does nothing if the buffer shares its memory with others.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  if (byteLength >= LARGE_BODY && buffer.byteLength === byteLength)
    discarded.postMessage(undefined, [buffer]);
}
