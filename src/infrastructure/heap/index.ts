import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: Readonly<Record<string, string>>) => void;

let collect: Collect | undefined;

/** V8 has no documented function for this: the flag provides `gc` in a new context. See docs/decisions/0022-heap-growth.md. */
function collectWith(options: Readonly<Record<string, string>>): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  collect(options);
}

/**
 * Collects the garbage of the start, which would stay in a process with few requests, and returns the memory. Takes 0.3 s, so call it
 * before the first request.
 */
export function collectGarbage(): void {
  // Node.js 20 knows no flavors, and ignores them.
  collectWith({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Collects what was created recently. Takes about 1 ms. */
export function collectYoungGarbage(): void {
  collectWith({ type: 'minor', execution: 'sync' });
}

/**
 * Frees the memory of a buffer that nobody uses any more. If it waited for its turn, it has reached the old generation, where V8 would
 * keep 64 MB of such memory. Does nothing if the buffer shares its memory with others.
 */
export function freeBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer.byteLength === byteLength) structuredClone(undefined, { transfer: [buffer] });
}
