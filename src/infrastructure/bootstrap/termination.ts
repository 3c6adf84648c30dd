/** Below the 30 seconds after which orchestrators usually kill a process. */
const STOP_TIMEOUT_MS = 20_000;
/**
 * Ctrl-C reaches every process of the group, and npm then forwards the signal. A second signal within this time is such
 * a duplicate.
 */
const DUPLICATE_SIGNAL_MS = 500;

export interface TerminationOptions {
  readonly exitCode?: number;
  /** Returns how many milliseconds `stop` waits on purpose, which extends the time limit. Called when the signal arrives. */
  readonly delay?: () => number;
}

/**
 * Calls `stop` on the first SIGTERM or SIGINT and then exits. A later signal exits at once with code 1. Nest's shutdown
 * hooks are not used, because they exit before the embedded database is released.
 *
 * @returns a function that removes the signal handlers
 */
export function onTermination(
  stop: () => Promise<void>,
  { exitCode = 0, delay = () => 0 }: TerminationOptions = {},
): () => void {
  let stoppingSince: number | undefined;
  const handle = (): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > DUPLICATE_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS + delay()).unref();
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
