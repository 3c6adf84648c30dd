import { Logger, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  onTermination,
  operatorMessageFor,
  prepareProcess,
  prepareSchema,
} from '../infrastructure/bootstrap/index.js';
import { processEnvironment, type LoadedConfiguration } from '../infrastructure/config/index.js';
import { DatabaseConfiguration } from '../infrastructure/database/index.js';
import { LoggingConfiguration, ServiceLogger } from '../infrastructure/logging/index.js';
import { EXIT, printSentence } from './output.js';

export type OnApplication = (app: INestApplicationContext) => Promise<void>;
export type OnConfiguration = (configuration: LoadedConfiguration) => Promise<void>;

/** Opens the application for one command and closes it again. */
export function withApplication(work: OnApplication): Promise<void> {
  return withConfiguration((configuration) => withApplicationOf(configuration, work));
}

/** Runs work that continues until a signal stops it, which isn't a failure. */
export async function untilStopped(
  work: (app: INestApplicationContext, stopped: AbortSignal) => Promise<void>,
): Promise<void> {
  const stopping = new AbortController();
  const running = loadModules().then(() =>
    onPrepared((configuration) => withApplicationOf(configuration, (app) => work(app, stopping.signal))),
  );
  const removeHandler = onTermination(() => {
    stopping.abort();
    return running;
  });
  await running;
  removeHandler();
}

/**
 * Runs work with the settings of all modules, without starting the application, which requires an up-to-date schema.
 *
 * @param options.asService whether the settings must be complete for a process that serves HTTP
 */
export async function withConfiguration(work: OnConfiguration, { asService = false } = {}): Promise<void> {
  await loadModules();
  await withInfrastructure(work, { asService });
}

/** Runs work with the settings of the infrastructure only, which load much faster than those of all modules. */
export async function withInfrastructure(work: OnConfiguration, { asService = false } = {}): Promise<void> {
  let release = async (): Promise<void> => undefined;
  const removeHandler = onTermination(() => release(), { exitCode: EXIT.failed });
  await onPrepared(work, asService, (prepared) => (release = prepared));
  removeHandler();
}

/** Opens the application with the settings, and closes it again. @throws the reason if the application cannot start */
export async function withApplicationOf(
  configuration: LoadedConfiguration,
  work: OnApplication,
): Promise<void> {
  const ofCommand = configuration.with(DatabaseConfiguration, {
    // Fail at once if the database is unavailable, because a person waits for the command.
    startTimeoutMilliseconds: 0,
    rotateOnStart: false,
  });
  await prepareSchema(ofCommand);
  const { AppModule } = await loadModules();
  const app = await NestFactory.createApplicationContext(
    AppModule.register(ofCommand, { backgroundWork: false }),
    { logger: loggerOf(ofCommand, 'error'), abortOnError: false },
  );
  try {
    await work(app);
  } finally {
    await app.close();
  }
}

/** Loads all modules and their settings. It takes seconds of CPU time, and not every command needs them. */
function loadModules(): Promise<typeof import('../app.module.js')> {
  return import('../app.module.js');
}

/** Runs the work. If it fails, prints the reason on standard error and sets exit code 1. */
async function onPrepared(
  work: OnConfiguration,
  servesHttp = false,
  onRelease: (release: () => Promise<void>) => void = () => undefined,
): Promise<void> {
  try {
    const prepared = await prepareProcess(processEnvironment(), report, { servesHttp });
    onRelease(prepared.release);
    // Warnings say what a command waits for, such as `migrate` for a backup.
    Logger.overrideLogger(loggerOf(prepared.configuration, 'warn'));
    try {
      await work(prepared.configuration);
    } finally {
      await prepared.release();
    }
  } catch (error) {
    report(operatorMessageFor(error));
    process.exitCode = EXIT.failed;
  }
}

/** Writes everything to standard error: standard output is reserved for the result of the command. */
class CommandLogger extends ServiceLogger {
  protected override printMessages(...message: Parameters<ServiceLogger['printMessages']>): void {
    const [messages, context, level, , ...rest] = message;
    super.printMessages(messages, context, level, 'stderr', ...rest);
  }
}

function loggerOf(configuration: LoadedConfiguration, level: 'error' | 'warn'): CommandLogger {
  return new CommandLogger(configuration.with(LoggingConfiguration, { level }).get(LoggingConfiguration));
}

function report(sentence: string): void {
  // A stack trace has several lines.
  for (const line of sentence.split('\n')) printSentence(line);
}
