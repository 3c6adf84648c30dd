import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { StreamedEvent } from './event-stream.js';
import { isLoopback } from './loopback.js';

/** Milliseconds, as for a delivery by the service. */
const TIMEOUT = 10_000;

/** The response of the local server to an event. */
export interface Forwarded {
  /** 0 if there was no response. */
  readonly status: number;
  readonly milliseconds: number;
  /** Why there was no response. */
  readonly problem?: string;
}

/** Sends an event to a local server with the original headers and bytes. `fetch` would add headers of its own. */
export function forward(url: URL, { headers, body }: StreamedEvent): Promise<Forwarded> {
  const start = performance.now();
  const milliseconds = (): number => Math.round(performance.now() - start);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(TIMEOUT);
    const fail = (error: NodeJS.ErrnoException): void => {
      const problem = signal.aborted
        ? `no response within ${TIMEOUT / 1000} s`
        : (error.code ?? error.message);
      resolve({ status: 0, milliseconds: milliseconds(), problem });
    };
    // Certificates of development servers on this machine are self-signed.
    const rejectUnauthorized = !isLoopback(url);
    send(url, { method: 'POST', headers, signal, rejectUnauthorized }, (response) => {
      response
        .on('error', fail)
        .on('end', () => resolve({ status: response.statusCode ?? 0, milliseconds: milliseconds() }))
        .resume();
    })
      .on('error', fail)
      .end(body);
  });
}
