import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { announce, collectGarbage, prepareSchema, runProgram } from './infrastructure/bootstrap/index.js';
import { MetricsServer } from './infrastructure/metrics/index.js';
import { LoggingConfiguration, ServiceLogger } from './infrastructure/logging/index.js';

/** Runs the background work of all surfaces without an HTTP server. */
await runProgram({ servesHttp: false }, async ({ configuration }) => {
  await prepareSchema(configuration);
  const app = await NestFactory.createApplicationContext(
    AppModule.register(configuration, { backgroundWork: true }),
    { logger: new ServiceLogger(configuration.get(LoggingConfiguration)), abortOnError: false },
  );
  try {
    const metricsUrl = await app.get(MetricsServer).listen();
    if (metricsUrl) announce(`Metrics: ${metricsUrl}`, configuration);
    collectGarbage();
    announce('The background work is running.', configuration);
    return () => app.close();
  } catch (error) {
    await app.close();
    throw error;
  }
});
