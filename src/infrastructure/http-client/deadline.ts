/** Resolves or rejects with the work, or rejects with the signal's reason as soon as the signal aborts. */
export async function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // If the signal wins, the work may still reject later, which must not be an unhandled rejection.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Runs the work with a signal that aborts with `error` after the given milliseconds, or with the outer signal.
 * Rejects at that moment, whether or not the work honors its signal.
 */
export async function withDeadline<T>(
  milliseconds: number,
  error: Error,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(error), milliseconds);
  const signal = AbortSignal.any([outer, deadline.signal]);
  try {
    return await rejectOnAbort(work(signal), signal);
  } finally {
    clearTimeout(timer);
  }
}
