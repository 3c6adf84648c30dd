import { redactText } from '../logging/index.js';

/** Below the 30 seconds after which orchestrators usually kill a process. */
const STOP_TIMEOUT_MS = 20_000;
/**
 * Ctrl-C reaches every process of the group, and npm then forwards the signal. A second signal within this time is such
 * a duplicate.
 */
const DUPLICATE_SIGNAL_MS = 500;

/** SIGHUP: the terminal, or the session that started the process, has ended. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

export interface TerminationOptions {
  readonly exitCode?: number;
  /** Receives the reason why the process stops, or exits before it has stopped. */
  readonly report?: (reason: string) => void;
  /** Returns how many milliseconds `stop` waits on purpose, which extends the time limit. Called when the signal arrives. */
  readonly delay?: () => number;
}

/**
 * Calls `stop` on the first SIGTERM, SIGINT or SIGHUP and then exits. A later signal exits at once with code 1. Nest's shutdown
 * hooks are not used, because they exit before the embedded database is released.
 *
 * @returns a function that removes the signal handlers
 */
export function onTermination(
  stop: () => Promise<void>,
  { exitCode = 0, delay = () => 0, report = () => undefined }: TerminationOptions = {},
): () => void {
  let stoppingSince: number | undefined;
  const exit = (reason: string): never => {
    report(`Exits before it has stopped: ${reason}.`);
    process.exit(1);
  };
  const handle = (signal: NodeJS.Signals): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > DUPLICATE_SIGNAL_MS) exit(`received ${signal}, too`);
      return;
    }
    report(`Stops: received ${signal}.`);
    stoppingSince = performance.now();
    const timeout = STOP_TIMEOUT_MS + delay();
    setTimeout(() => exit(`stopping took longer than ${timeout / 1000} s`), timeout).unref();
    stop().then(
      () => process.exit(exitCode),
      (error: unknown) => {
        process.stderr.write(`${redactText(String(error instanceof Error ? error.stack : error))}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return () => {
    for (const signal of SIGNALS) process.off(signal, handle);
  };
}
