import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects the garbage of the start, which would stay in a process with few requests, and returns the memory. Takes 0.3 s, so call it
 * before the first request. V8 has no documented function for this: docs/decisions/0022-heap-growth.md.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  // Node.js 20 knows no flavors, and ignores them.
  (runInNewContext('gc') as (options: object) => void)({
    type: 'major',
    execution: 'sync',
    flavor: 'last-resort',
  });
}

/**
 * Frees the memory of a buffer that nobody uses any more. If it waited for its turn, it has reached the old generation, where V8 would
 * keep 64 MB of such memory. Does nothing if the buffer shares its memory with others.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer.byteLength === byteLength) structuredClone(undefined, { transfer: [buffer] });
}
