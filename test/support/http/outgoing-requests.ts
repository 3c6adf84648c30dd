import { subscribe, unsubscribe } from 'node:diagnostics_channel';

interface CreatedRequest {
  readonly request: {
    readonly method: string;
    readonly origin: string | URL;
    readonly path: string;
    readonly headers: readonly string[] | string;
  };
}

const REQUIRED = ['user-agent', 'accept', 'accept-encoding'];
/** Origins of the services that the tests started. Tests also send requests that nothing else would send. */
const ownOrigins = new Set<string>();
const outgoing: { readonly name: string; readonly origin: string; readonly missing: readonly string[] }[] =
  [];

const CREATED = 'undici:request:create';

/** `fetch`, which tests use, sends the headers, too. */
function keep(message: unknown): void {
  const { method, origin, path, headers } = (message as CreatedRequest).request;
  const lines =
    typeof headers === 'string' ? headers.split('\r\n').map((line) => line.split(':')[0]) : headers;
  const names = new Set(lines.map((name) => name?.toLowerCase()));
  const missing = REQUIRED.filter((name) => !names.has(name));
  outgoing.push({ name: `${method} ${String(origin)}${path}`, origin: String(origin), missing });
}

subscribe(CREATED, keep);
// Node.js would keep the whole test file in memory.
afterAll(() => void unsubscribe(CREATED, keep));

/** Starts to tell requests to the service from those that the service sends. */
export function isOwnOrigin(baseUrl: string): void {
  ownOrigins.add(new URL(baseUrl).origin);
}

/** Returns how many requests have left the service, and those that lack a header that every such request has. */
export function outgoingRequests(): { readonly count: number; readonly incomplete: readonly string[] } {
  const left = outgoing.filter(({ origin }) => !ownOrigins.has(origin));
  const incomplete = left.filter(({ missing }) => missing.length > 0);
  return {
    count: left.length,
    incomplete: incomplete.map(({ name, missing }) => `${name} lacks ${missing.join(', ')}`),
  };
}
