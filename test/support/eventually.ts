import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE = 10_000;
const PAUSE = 25;

/** Looks again until the answer is there (neither undefined nor false), or the patience (milliseconds) is over. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  patience = PATIENCE,
): Promise<T> {
  const until = Date.now() + patience;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > until) throw new Error(`Waited in vain until ${what}`);
    await pause(PAUSE);
  }
}
