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
} from '../infrastructure/foundation/index.js';
import { LoggingConfiguration, ServiceLogger } from '../infrastructure/logging/index.js';

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
    return this.withFoundation(async (configuration) => {
      await prepareSchema(configuration);
      configuration.get(ServiceConfiguration).surfaces = [...SURFACES];
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
    });
  }

  /** The same without the application, which does not come up on an old schema. */
  async withFoundation(work: (configuration: LoadedConfiguration) => Promise<void>): Promise<void> {
    let release = async (): Promise<void> => undefined;
    const forget = onTermination(() => release(), EXIT.failed);
    try {
      const foundation = await layFoundation(processEnvironment(), tell);
      release = foundation.release;
      try {
        await work(foundation.configuration);
      } finally {
        await release();
      }
    } catch (error) {
      tell(plainSentence(error));
      process.exitCode = EXIT.failed;
    } finally {
      forget();
    }
  }
}

function tell(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

/** Answers the operator on standard output, as JSON that people can read too. */
export function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
