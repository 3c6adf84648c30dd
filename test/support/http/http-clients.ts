import { loadConfiguration } from '../../../src/infrastructure/config/index.js';
import { HttpClient, HttpClientConfiguration } from '../../../src/infrastructure/http-client/index.js';
import { Clock } from '../../../src/infrastructure/time/index.js';
import { Tracing } from '../../../src/infrastructure/tracing/index.js';
import { TEST_AUTHORITY } from '../webhooks/receiver-certificates.js';

/** Creates an HTTP client with these settings, without the rest of the service. */
export function httpClient(environment: Record<string, string> = {}): HttpClient {
  const configuration = loadConfiguration({ WEBHOOK_EXTRA_CA: TEST_AUTHORITY, ...environment });
  return new HttpClient(configuration.get(HttpClientConfiguration), new Clock(), new Tracing());
}

/** Shortens the deadline of further requests from ten seconds. */
export function shortenDeadline(client: HttpClient, milliseconds: number): void {
  Object.assign(client, { deadline: milliseconds });
}
