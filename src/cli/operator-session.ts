import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { processEnvironment, ServiceConfiguration, SURFACES } from '../infrastructure/config/index.js';
import { layFoundation, plainSentence, prepareSchema } from '../infrastructure/foundation/index.js';
import { LoggingConfiguration, ServiceLogger } from '../infrastructure/logging/index.js';

/** Exit codes of every command: not done (a sentence says why), and done but for what was skipped. */
export const EXIT = { failed: 1, incomplete: 2 } as const;

/**
 * Opens the application for one command and closes it again. Only when a command really runs: `--help`
 * must answer without a database.
 */
@Injectable()
export class OperatorSession {
  /** Runs the work; a failure becomes a sentence on standard error and exit code 1. */
  async run(work: (app: INestApplicationContext) => Promise<void>): Promise<void> {
    const tell = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
    try {
      const { configuration, release } = await layFoundation(processEnvironment(), tell);
      try {
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
      } finally {
        await release();
      }
    } catch (error) {
      tell(plainSentence(error));
      process.exitCode = EXIT.failed;
    }
  }
}

/** Answers the operator on standard output, as JSON that people can read too. */
export function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
