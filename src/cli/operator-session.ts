import { Injectable, Logger, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  onTermination,
  operatorMessageFor,
  prepareProcess,
  prepareSchema,
  type PreparedProcess,
} from '../infrastructure/bootstrap/index.js';
import { processEnvironment, type LoadedConfiguration } from '../infrastructure/config/index.js';
import { DatabaseConfiguration } from '../infrastructure/database/index.js';
import { LoggingConfiguration, ServiceLogger } from '../infrastructure/logging/index.js';
import { printSentence } from './commands/output.js';
import { EXIT } from './exit.js';

/** Opens the application for one command and closes it again. Commands open it when they run, so `--help` needs no database. */
@Injectable()
export class OperatorSession {
  /** Runs the work on the application. If it fails, prints the reason on standard error and sets exit code 1. */
  run(work: (app: INestApplicationContext) => Promise<void>): Promise<void> {
    return this.withConfiguration((configuration) => onApplication(configuration, work));
  }

  /** Runs work that continues until a signal stops it, which isn't a failure. */
  async runUntilStopped(
    work: (app: INestApplicationContext, stopped: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const stopping = new AbortController();
    const running = loadModules().then(() =>
      onPrepared(({ configuration }) => onApplication(configuration, (app) => work(app, stopping.signal))),
    );
    const removeHandler = onTermination(() => {
      stopping.abort();
      return running;
    });
    await running;
    removeHandler();
  }

  /** Runs work on the application. @throws the reason if the application cannot start */
  onApplication(
    configuration: LoadedConfiguration,
    work: (app: INestApplicationContext) => Promise<void>,
  ): Promise<void> {
    return onApplication(configuration, work);
  }

  /**
   * Runs work without starting the application, which requires an up-to-date schema.
   *
   * @param options.asService whether the settings must be complete for a process that serves HTTP
   */
  async withConfiguration(
    work: (configuration: LoadedConfiguration) => Promise<void>,
    options: { readonly asService?: boolean } = {},
  ): Promise<void> {
    await loadModules();
    await this.withInfrastructure(work, options);
  }

  /** Runs work with the settings of the infrastructure only, which load much faster than those of all modules. */
  async withInfrastructure(
    work: (configuration: LoadedConfiguration) => Promise<void>,
    { asService = false } = {},
  ): Promise<void> {
    let release = async (): Promise<void> => undefined;
    const removeHandler = onTermination(() => release(), { exitCode: EXIT.failed });
    await onPrepared((prepared) => {
      release = prepared.release;
      return work(prepared.configuration);
    }, asService);
    removeHandler();
  }
}

/** Loads all modules and their settings. It takes seconds of CPU time, and not every command needs them. */
function loadModules(): Promise<typeof import('../app.module.js')> {
  return import('../app.module.js');
}

async function onPrepared(
  work: (prepared: PreparedProcess) => Promise<void>,
  servesHttp = false,
): Promise<void> {
  try {
    const prepared = await prepareProcess(processEnvironment(), report, { servesHttp });
    const logging = prepared.configuration.get(LoggingConfiguration);
    // Standard output is reserved for the result of the command.
    logging.level = 'error';
    Logger.overrideLogger(new ServiceLogger(logging));
    try {
      await work(prepared);
    } finally {
      await prepared.release();
    }
  } catch (error) {
    report(operatorMessageFor(error));
    process.exitCode = EXIT.failed;
  }
}

async function onApplication(
  configuration: LoadedConfiguration,
  work: (app: INestApplicationContext) => Promise<void>,
): Promise<void> {
  // Fail at once if the database is unavailable, because a person waits for the command.
  configuration.get(DatabaseConfiguration).startTimeoutMilliseconds = 0;
  await prepareSchema(configuration);
  configuration.get(DatabaseConfiguration).rotateOnStart = false;
  const { AppModule } = await loadModules();
  const app = await NestFactory.createApplicationContext(
    AppModule.register(configuration, { backgroundWork: false }),
    { logger: new ServiceLogger(configuration.get(LoggingConfiguration)), abortOnError: false },
  );
  try {
    await work(app);
  } finally {
    await app.close();
  }
}

function report(sentence: string): void {
  // A stack trace has several lines.
  for (const line of sentence.split('\n')) printSentence(line);
}
