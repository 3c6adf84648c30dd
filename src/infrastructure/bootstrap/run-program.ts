import { setFlagsFromString } from 'node:v8';
import { Logger } from '@nestjs/common';
import {
  misspelledVariables,
  processEnvironment,
  ServiceConfiguration,
  type LoadedConfiguration,
} from '../config/index.js';
import { isDatabaseUnavailable } from '../database/index.js';
import { OperatorError } from '../errors/index.js';
import { LoggingConfiguration, ServiceLogger } from '../logging/index.js';
import { prepareProcess, type PreparedProcess } from './prepare-process.js';
import { onTermination } from './termination.js';

/**
 * Percent by which the heap may grow between two full garbage collections. By default, V8 lets it double and more, so that
 * most of the memory of a busy process is garbage: docs/decisions/0022-heap-growth.md.
 */
const HEAP_GROWTH = 80;

/**
 * Collects the garbage of the start, which would stay in a process with few requests, and returns the memory. Takes 0.3 s, so call it
 * before the first request. Does nothing without the option `--expose-gc`: docs/decisions/0022-heap-growth.md.
 */
export function collectGarbage(): void {
  // Node.js 20 knows no flavors, and ignores them.
  void globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

function print(message: string): void {
  process.stdout.write(`${message}\n`);
}

/** Prints a message. In production, writes it as a log line, because programs read the output there. */
export function announce(message: string, configuration: LoadedConfiguration): void {
  if (configuration.get(ServiceConfiguration).isProduction) new Logger('Service').log(message);
  else print(message);
}

interface ProgramOptions {
  readonly servesHttp: boolean;
  readonly delay?: (configuration: LoadedConfiguration) => number;
}

/**
 * Runs a program until it receives SIGTERM or SIGINT. If it cannot start, it prints why and exits with code 1.
 *
 * @param options.servesHttp whether the program serves the surfaces
 * @param options.delay returns how many milliseconds stopping waits on purpose
 * @param start starts the program and returns a function that stops it; the embedded database is released after that
 */
export async function runProgram(
  options: ProgramOptions,
  start: (prepared: PreparedProcess) => Promise<() => Promise<void>>,
): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  let delay = 0;
  const started = begin(options, (prepared) => {
    delay = options.delay?.(prepared.configuration) ?? 0;
    return start(prepared);
  });
  // A program that is stopped while it starts finishes starting first. Otherwise it would leave the embedded database
  // running.
  const stopWhenStarted = async (): Promise<void> => {
    const stop = await started;
    await stop();
  };
  onTermination(stopWhenStarted, { delay: () => delay });
  await started;
}

async function begin(
  options: ProgramOptions,
  start: (prepared: PreparedProcess) => Promise<() => Promise<void>>,
): Promise<() => Promise<void>> {
  let release = async (): Promise<void> => undefined;
  try {
    const environment = processEnvironment();
    const prepared = await prepareProcess(environment, print, { ...options, writesFiles: true });
    release = prepared.release;
    // Before Nest starts, its default logger would write plain text instead of JSON.
    Logger.overrideLogger(new ServiceLogger(prepared.configuration.get(LoggingConfiguration)));
    for (const warning of [...misspelledVariables(environment), ...prepared.warnings])
      new Logger('Configuration').warn(warning);
    const stop = await start(prepared);
    return async () => {
      try {
        await stop();
      } finally {
        await release();
      }
    };
  } catch (error) {
    await release();
    process.stderr.write(`${operatorMessageFor(error)}\n`);
    process.exit(1);
  }
}

/** Returns the text to show an operator for an error: an explanation of a known problem, otherwise the stack. */
export function operatorMessageFor(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorError) return error.message;
  if (isDatabaseUnavailable(error))
    return `The database became unreachable: ${error.message}. Start the program again when the database is available.`;
  return error.stack ?? error.message;
}
