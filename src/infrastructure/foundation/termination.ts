/** Milliseconds until a stop that hangs is cut short: below the 30 s that orchestrators usually grant. */
const TIMEOUT = 20_000;
/**
 * Milliseconds within which the same signal is an echo, not a second wish: Ctrl+C reaches the whole process
 * group, and npm, which stands above us, hands the signal down once more.
 */
const ECHO = 500;

export interface TerminationOptions {
  readonly exitCode?: number;
  /** Milliseconds that the stop waits on purpose, asked for when the signal comes. */
  readonly delay?: () => number;
}

/**
 * Runs the steps in their order on the first SIGTERM or SIGINT and ends the process; the second signal
 * ends it at once. Our own, because Nest's shutdown hooks end the process before the database that it
 * stands on could be released.
 *
 * @returns how to leave the signals alone again
 */
export function onTermination(
  stop: () => Promise<void>,
  { exitCode = 0, delay = () => 0 }: TerminationOptions = {},
): () => void {
  let stoppingSince: number | undefined;
  const handle = (): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > ECHO) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    setTimeout(() => process.exit(1), TIMEOUT + delay()).unref();
    stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', handle);
  process.on('SIGINT', handle);
  return () => {
    process.off('SIGTERM', handle);
    process.off('SIGINT', handle);
  };
}
