import { createApplication } from './application.js';
import { ServiceConfiguration } from './infrastructure/config/index.js';
import { prepareSchema, runProgram, say } from './infrastructure/foundation/index.js';
import { HttpConfiguration } from './infrastructure/http/index.js';
import { MetricsServer } from './infrastructure/metrics/index.js';
import { FirstOrganization } from './modules/organizations/index.js';

/** The service: foundation, schema, application, listen. It stops in the opposite order. */
await runProgram(async ({ configuration }) => {
  await prepareSchema(configuration);
  const service = configuration.get(ServiceConfiguration);
  const app = await createApplication(configuration, { backgroundWork: service.backgroundWork });
  try {
    const metricsUrl = await app.get(MetricsServer).listen();
    const { host, port } = configuration.get(HttpConfiguration);
    await app.listen(port, host ?? (service.isProduction ? '::' : '127.0.0.1'));
    const url = await app.getUrl();
    // Nest calls all addresses [::1], which is not one of them on every machine.
    const baseUrl = host ? url : url.replace('[::1]', '127.0.0.1');
    if (!service.isProduction) say(await app.get(FirstOrganization).provide(baseUrl));
    if (metricsUrl) say(`Metrics: ${metricsUrl}`);
    say(`Listening on ${baseUrl}. Documentation: ${baseUrl}/docs`);
    return () => app.close();
  } catch (error) {
    await app.close();
    throw error;
  }
});
