import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import {
  processEnvironment,
  ServiceConfiguration,
  SURFACES,
  type LoadedConfiguration,
} from '../infrastructure/config/index.js';
import {
  layFoundation,
  onTermination,
  plainSentence,
  prepareSchema,
  type Foundation,
} from '../infrastructure/foundation/index.js';
import { LoggingConfiguration, ServiceLogger } from '../infrastructure/logging/index.js';

/** Exit codes: `failed` (standard error says why) and `incomplete` (some input was skipped). */
export const EXIT = { failed: 1, incomplete: 2 } as const;

/** Opens the application for one command and closes it again. Commands open it when they run, so `--help` needs no database. */
@Injectable()
export class OperatorSession {
  /** Runs the work on the application. If it fails, prints the reason on standard error and sets exit code 1. */
  run(work: (app: INestApplicationContext) => Promise<void>): Promise<void> {
    return this.withFoundation((configuration) => onApplication(configuration, work));
  }

  /** Runs work that continues until a signal stops it, which isn't a failure. */
  async runUntilStopped(
    work: (app: INestApplicationContext, stopped: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const stopping = new AbortController();
    const running = onFoundation(({ configuration }) =>
      onApplication(configuration, (app) => work(app, stopping.signal)),
    );
    const removeHandler = onTermination(() => {
      stopping.abort();
      return running;
    });
    await running;
    removeHandler();
  }

  /** Runs work without the application, which doesn't start on an old schema. */
  async withFoundation(work: (configuration: LoadedConfiguration) => Promise<void>): Promise<void> {
    let release = async (): Promise<void> => undefined;
    const removeHandler = onTermination(() => release(), { exitCode: EXIT.failed });
    await onFoundation((foundation) => {
      release = foundation.release;
      return work(foundation.configuration);
    });
    removeHandler();
  }
}

async function onFoundation(work: (foundation: Foundation) => Promise<void>): Promise<void> {
  try {
    const foundation = await layFoundation(processEnvironment(), report);
    try {
      await work(foundation);
    } finally {
      await foundation.release();
    }
  } catch (error) {
    report(plainSentence(error));
    process.exitCode = EXIT.failed;
  }
}

async function onApplication(
  configuration: LoadedConfiguration,
  work: (app: INestApplicationContext) => Promise<void>,
): Promise<void> {
  await prepareSchema(configuration);
  configuration.get(ServiceConfiguration).surfaces = [...SURFACES];
  const logging = configuration.get(LoggingConfiguration);
  // Standard output is reserved for the result of the command.
  logging.level = 'error';
  const app = await NestFactory.createApplicationContext(
    AppModule.register(configuration, { backgroundWork: false, forCommand: true }),
    { logger: new ServiceLogger(logging), abortOnError: false },
  );
  try {
    await work(app);
  } finally {
    await app.close();
  }
}

function report(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}
