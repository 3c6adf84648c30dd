import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { prepareSchema, runProgram, say } from './infrastructure/foundation/index.js';
import { MetricsServer } from './infrastructure/metrics/index.js';
import { LoggingConfiguration, ServiceLogger } from './infrastructure/logging/index.js';

/** The background work of all surfaces, without an HTTP server. */
await runProgram(async ({ configuration }) => {
  await prepareSchema(configuration);
  const app = await NestFactory.createApplicationContext(
    AppModule.register(configuration, { backgroundWork: true }),
    { logger: new ServiceLogger(configuration.get(LoggingConfiguration)), abortOnError: false },
  );
  try {
    const metricsUrl = await app.get(MetricsServer).listen();
    if (metricsUrl) say(`Metrics: ${metricsUrl}`);
    say('The background work is running.');
    return () => app.close();
  } catch (error) {
    await app.close();
    throw error;
  }
});
