import { MerchantConnectivity } from '@merchant-connectivity/sdk';
import type { EnvHttpProxyAgent } from 'undici';
import { usage } from './failures.js';
import { isLoopback } from './loopback.js';
import packageFile from '../package.json' with { type: 'json' };

/** How this program names itself, also in the list of logins of the dashboard. */
export const USER_AGENT = `mcs/${packageFile.version}`;

type Options = ConstructorParameters<typeof MerchantConnectivity>[0];

/** Returns a client that names this program and uses the proxy of the environment. */
export function clientOf(options: Options): MerchantConnectivity {
  // A wrong address of the proxy is a mistake of the user, not a failure of the request.
  proxyAddress();
  return new MerchantConnectivity({ ...options, userAgent: USER_AGENT, fetch: fetchByProxy });
}

function proxyAddress(): string | undefined {
  const proxy = process.env['https_proxy'] || process.env['HTTPS_PROXY'];
  if (!proxy) return undefined;
  const address = /^\w+:\/\//.test(proxy) ? proxy : `http://${proxy}`;
  if (URL.canParse(address) && /^https?:\/\//.test(address)) return address;
  throw usage('HTTPS_PROXY must be the address of an HTTP proxy, such as http://proxy.example.com:3128.');
}

let agent: EnvHttpProxyAgent | undefined;

/**
 * Sends a request, through the proxy that HTTPS_PROXY names unless NO_PROXY excludes the host. The `fetch` of Node.js does this
 * in some versions, and only if another variable asks for it.
 */
export const fetchByProxy: typeof fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  const address = proxyAddress();
  // A proxy cannot reach this machine. Requests to others use https.
  if (address === undefined || isLoopback(url)) return fetch(input, init);
  const { EnvHttpProxyAgent: Agent, fetch: fetchWith } = await import('undici');
  agent ??= new Agent({ httpProxy: '', httpsProxy: address });
  const options = { ...init, dispatcher: agent } as unknown as Parameters<typeof fetchWith>[1];
  return fetchWith(url, options).catch((error: unknown) => {
    throw withProxy(error as Error, new URL(address));
  }) as unknown as Promise<Response>;
};

/** Adds the proxy to the reason, without its credentials: the address in the message of the SDK may not be at fault. */
function withProxy(error: Error, { host }: URL): Error {
  let reason: Error = error;
  while (reason.cause instanceof Error) reason = reason.cause;
  const { message, code } = reason as NodeJS.ErrnoException;
  const status = /Proxy response \((\d+)\)/.exec(message)?.[1];
  const text = status === undefined ? message || code : `the proxy responded with the status ${status}`;
  const cause = Object.assign(new Error(`${text} (through the proxy ${host} of HTTPS_PROXY)`), { code });
  return Object.assign(new TypeError(error.message, { cause }), { name: error.name });
}
