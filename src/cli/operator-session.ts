import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import {
  onTermination,
  operatorMessageFor,
  prepareProcess,
  prepareSchema,
  type PreparedProcess,
} from '../infrastructure/bootstrap/index.js';
import { processEnvironment, type LoadedConfiguration } from '../infrastructure/config/index.js';
import { LoggingConfiguration, ServiceLogger } from '../infrastructure/logging/index.js';
import { RequestLogsConfiguration } from '../modules/request-logs/index.js';

/** Exit codes of every command: not done (a sentence says why), and done but for what was skipped. */
export const EXIT = { failed: 1, incomplete: 2 } as const;

/**
 * Opens the application for one command and closes it again. Only when a command really runs: `--help`
 * must answer without a database.
 */
@Injectable()
export class OperatorSession {
  /** Runs the work on the application; a failure becomes a sentence on standard error and exit code 1. */
  run(work: (app: INestApplicationContext) => Promise<void>): Promise<void> {
    return this.withFoundation((configuration) => onApplication(configuration, work));
  }

  /** The same with work that goes on until a signal ends it, which is no failure. */
  async runUntilStopped(
    work: (app: INestApplicationContext, stopped: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const stopping = new AbortController();
    const running = onPrepared(({ configuration }) =>
      onApplication(configuration, (app) => work(app, stopping.signal)),
    );
    const forget = onTermination(() => {
      stopping.abort();
      return running;
    });
    await running;
    forget();
  }

  /** The same without the application, which does not come up on an old schema. */
  async withFoundation(work: (configuration: LoadedConfiguration) => Promise<void>): Promise<void> {
    let release = async (): Promise<void> => undefined;
    const forget = onTermination(() => release(), { exitCode: EXIT.failed });
    await onPrepared((prepared) => {
      release = prepared.release;
      return work(prepared.configuration);
    });
    forget();
  }
}

async function onPrepared(work: (prepared: PreparedProcess) => Promise<void>): Promise<void> {
  try {
    const prepared = await prepareProcess(processEnvironment(), tell);
    try {
      await work(prepared);
    } finally {
      await prepared.release();
    }
  } catch (error) {
    tell(operatorMessageFor(error));
    process.exitCode = EXIT.failed;
  }
}

async function onApplication(
  configuration: LoadedConfiguration,
  work: (app: INestApplicationContext) => Promise<void>,
): Promise<void> {
  await prepareSchema(configuration);
  configuration.get(RequestLogsConfiguration).rotateOnStart = false;
  const logging = configuration.get(LoggingConfiguration);
  // Standard output belongs to the command's answer.
  logging.level = 'error';
  const app = await NestFactory.createApplicationContext(
    AppModule.register(configuration, { backgroundWork: false }),
    { logger: new ServiceLogger(logging), abortOnError: false },
  );
  try {
    await work(app);
  } finally {
    await app.close();
  }
}

function tell(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

/** Answers the operator on standard output, as JSON that people can read too. */
export function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
