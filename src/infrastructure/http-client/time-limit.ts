/** The same promise, but rejected with the signal's reason as soon as it aborts. */
export async function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Whoever loses the race must not be an unhandled rejection later.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/**
 * Gives the work a signal that aborts with `late` after so many milliseconds, or with the outer signal. The
 * work is given up then, whether or not it heeds its signal.
 */
export async function withDeadline<T>(
  milliseconds: number,
  late: Error,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(late), milliseconds);
  const signal = AbortSignal.any([outer, limit.signal]);
  try {
    return await rejectOnAbort(work(signal), signal);
  } finally {
    clearTimeout(timer);
  }
}
