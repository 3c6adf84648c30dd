import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Logger } from '@nestjs/common';
import {
  misspelledVariables,
  processEnvironment,
  ServiceConfiguration,
  type LoadedConfiguration,
} from '../config/index.js';
import { isDatabaseUnavailable, isStatementCanceled } from '../database/index.js';
import { OperatorError } from '../errors/index.js';
import { LoggingConfiguration, redactText, ServiceLogger } from '../logging/index.js';
import { VERSION } from '../project-files/index.js';
import { MINUTE, SECOND } from '../time/index.js';
import { prepareProcess, type PreparedProcess } from './prepare-process.js';
import { onTermination } from './termination.js';
import { notifyWatchdog } from './watchdog.js';

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

/**
 * Logs that the process can open no more files and connections, at most once a minute. Node.js closes connections that it cannot accept
 * without an event, so that otherwise nobody would learn why clients and load balancers get no response.
 */
function watchDescriptors(): void {
  let reportedAt = -Infinity;
  const check = (): void => {
    try {
      closeSync(openSync(devNull, 'r'));
    } catch (error) {
      if (performance.now() - reportedAt < MINUTE) return;
      reportedAt = performance.now();
      new Logger('Service').error(
        `The process can open no more files and connections (${(error as NodeJS.ErrnoException).code}), and closes new connections unanswered. Raise its limit of open files (ulimit -n, LimitNOFILE): docs/runbooks.md, "FileDescriptorsScarce".`,
      );
    }
  };
  setInterval(check, SECOND).unref();
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
  notifyWatchdog(processEnvironment());
  let delay = 0;
  let report = print;
  const started = begin(options, (prepared) => {
    const { configuration } = prepared;
    delay = options.delay?.(configuration) ?? 0;
    report = (message) => announce(message, configuration);
    report(`Starts version ${VERSION} with Node.js ${process.versions.node}.`);
    return start(prepared);
  });
  // A program that is stopped while it starts finishes starting first. Otherwise it would leave the embedded database
  // running.
  const stopWhenStarted = async (): Promise<void> => {
    const stop = await started;
    await stop();
  };
  onTermination(stopWhenStarted, { delay: () => delay, report: (reason) => report(reason) });
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
    // Node.js would write the error as plain text, with all secrets that it contains.
    process.on('uncaughtException', ({ stack, message }, origin) => {
      new Logger('Service').fatal(
        `Exits because of an error that nobody expected (${origin}): ${stack ?? message}`,
      );
      process.exit(1);
    });
    for (const warning of [...misspelledVariables(environment), ...prepared.warnings])
      new Logger('Configuration').warn(warning);
    watchDescriptors();
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

/**
 * Returns the text to show an operator for an error: an explanation of a known problem, otherwise the stack. Masks secrets, except in
 * messages that are written for operators.
 */
export function operatorMessageFor(error: unknown): string {
  return error instanceof OperatorError ? error.message : redactText(explained(error));
}

function explained(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isStatementCanceled(error)) return `The database canceled a statement: ${error.message}.`;
  if (isDatabaseUnavailable(error))
    return `The database is not available: ${error.message}. Run the program again when it is.`;
  return error.stack ?? error.message;
}
