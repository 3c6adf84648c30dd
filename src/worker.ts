import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { processEnvironment, ServiceConfiguration, SURFACES } from './infrastructure/config/index.js';
import {
  layFoundation,
  onTermination,
  plainSentence,
  prepareSchema,
} from './infrastructure/foundation/index.js';
import { LoggingConfiguration, ServiceLogger } from './infrastructure/logging/index.js';

/** The background work of all surfaces, without an HTTP server. */
async function main(): Promise<void> {
  const report = (sentence: string): void => void process.stdout.write(`${sentence}\n`);
  const { configuration, release } = await layFoundation(processEnvironment(), report);
  try {
    await prepareSchema(configuration);
    configuration.get(ServiceConfiguration).surfaces = [...SURFACES];
    const app = await NestFactory.createApplicationContext(
      AppModule.register(configuration, { backgroundWork: true }),
      { logger: new ServiceLogger(configuration.get(LoggingConfiguration)), abortOnError: false },
    );
    onTermination(async () => {
      await app.close();
      await release();
    });
    report('The background work is running.');
  } catch (error) {
    await release();
    throw error;
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${plainSentence(error)}\n`);
  process.exit(1);
}
