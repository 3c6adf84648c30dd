import { createApplication } from './application.js';
import { announce, collectGarbage, prepareSchema, runProgram } from './infrastructure/bootstrap/index.js';
import {
  availableAddress,
  listenProblem,
  ServiceConfiguration,
  type LoadedConfiguration,
} from './infrastructure/config/index.js';
import { HttpConfiguration, Startup } from './infrastructure/http/index.js';
import { MetricsServer } from './infrastructure/metrics/index.js';
import { FirstOrganization } from './modules/organizations/index.js';

/** Returns how many milliseconds stopping waits on purpose. */
const delay = (configuration: LoadedConfiguration): number =>
  configuration.get(HttpConfiguration).shutdownDelayMilliseconds;

// Loads the configuration, then starts the database, migrates the schema, and starts the application and the HTTP server. Stops them
// in reverse order.
await runProgram({ servesHttp: true, delay }, async ({ configuration }) => {
  await prepareSchema(configuration);
  const service = configuration.get(ServiceConfiguration);
  const app = await createApplication(configuration, { backgroundWork: service.backgroundWork });
  try {
    const metricsUrl = await app.get(MetricsServer).listen();
    const http = configuration.get(HttpConfiguration);
    const host = await availableAddress(http.address(service), 'HOST');
    const port = http.port;
    let baseUrl = '';
    await app.get(Startup).complete(async () => {
      await app.init();
      collectGarbage();
      await app.listen(port, host).catch((error: unknown) => {
        throw listenProblem(error, { host, port });
      });
      const url = await app.getUrl();
      // For all interfaces, Nest's URL contains [::1], an address that not every machine has.
      baseUrl = http.host ? url : url.replace('[::1]', '127.0.0.1');
      if (!service.isProduction) announce(await app.get(FirstOrganization).provide(baseUrl), configuration);
    });
    if (metricsUrl) announce(`Metrics: ${metricsUrl}`, configuration);
    announce(`Listening on ${baseUrl}. Documentation: ${baseUrl}/docs`, configuration);
    return () => app.close();
  } catch (error) {
    await app.close();
    throw error;
  }
});
