import { BADNAME, lookup, NODATA, NOTFOUND, Resolver } from 'node:dns/promises';
import { isIPv4, type Socket } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { Logger } from '@nestjs/common';
import { buildConnector, Client } from 'undici';
import { MINUTE, SECOND } from '../time/index.js';
import { rejectOnAbort, withDeadline, type Stopwatch } from './stopwatch.js';
import type { HttpClientConfiguration } from './http-client.configuration.js';
import { addressIn, isPublicUnicast, isSameAddress, withoutRootDot } from './public-url.js';
import {
  CONNECT_TIMEOUT,
  codeOf,
  connectError,
  FORBIDDEN_ADDRESS,
  handshakeError,
  NO_DNS_ANSWER,
  NOT_OPENED,
  REFUSED,
  RESET,
  UNRESOLVED,
} from './transport-error.js';

/**
 * undici's connect timeout, in milliseconds. It only closes sockets that nothing waits for anymore, because the deadline of
 * the request (10 seconds) comes first.
 */
const TIMEOUT = 11 * SECOND;
/** Milliseconds before the next address is tried. The last address gets the rest of the time. */
const ADDRESS_TIMEOUT = 500;
/** A host name with hundreds of addresses must not cause hundreds of connection attempts. */
const MAX_ADDRESSES = 4;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Milliseconds per query to one server. */
const QUERY_TIMEOUT = SECOND;
/** Queries per server. */
const TRIES = 2;
const NO_SUCH_NAME: readonly string[] = [BADNAME, NODATA, NOTFOUND];
/** Milliseconds for the whole resolution. */
const RESOLUTION_TIMEOUT = 3 * SECOND;

/**
 * Resolves the host name of a receiver and checks every address. Queries DNS directly, because `dns.lookup` occupies one
 * of libuv's four threads until the system resolver times out, so four host names that do not respond would block all
 * other lookups.
 */
class HostResolver {
  private readonly resolver = new Resolver({ timeout: QUERY_TIMEOUT, tries: TRIES });

  constructor(private readonly configuration: HttpClientConfiguration) {
    if (configuration.dnsServers !== undefined) this.resolver.setServers(configuration.dnsServers);
  }

  /**
   * @throws TransportError `DNS` if there is no address, `FORBIDDEN_ADDRESS` if any address is not public: a host that
   * lists a private address among public ones may be trying to make the service connect to the private one.
   */
  async resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const addresses = await withDeadline(RESOLUTION_TIMEOUT, NO_DNS_ANSWER, signal, () =>
      this.addressesOf(hostname),
    );
    if (addresses.length === 0) throw UNRESOLVED;
    if (!this.configuration.allowsAnyTarget && !addresses.every(isPublicUnicast)) throw FORBIDDEN_ADDRESS;
    return addresses;
  }

  private async addressesOf(hostname: string): Promise<readonly string[]> {
    const literal = addressIn(hostname);
    if (literal !== undefined) return [literal];
    // Developers define host names in /etc/hosts, which DNS does not know.
    const { allowsAnyTarget, dnsServers } = this.configuration;
    if (allowsAnyTarget && dnsServers === undefined) return systemAddressesOf(hostname);
    // One family of addresses is enough, because some servers never respond to queries for the other.
    const queries = [this.resolver.resolve4(hostname), this.resolver.resolve6(hostname)];
    const results = await Promise.allSettled(queries);
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    // DNS may have answered that there is no such name, or no such address.
    const isAnswered = results.some(
      (result) => result.status === 'fulfilled' || NO_SUCH_NAME.includes(codeOf(result.reason)),
    );
    if (!isAnswered) throw NO_DNS_ANSWER;
    return addresses;
  }
}

async function systemAddressesOf(hostname: string): Promise<readonly string[]> {
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw codeOf(error) === NOTFOUND ? UNRESOLVED : NO_DNS_ANSWER;
  }
}

/** Reports a response of the proxy that only the operator can fix, such as 407. Clients never see the message. */
class ProxyError extends Error {}

/**
 * Opens connections to receivers, step by step: resolve and check the addresses, connect to one of them, then
 * TLS. Each step has its own phase and error. See docs/decisions/0016-http-client.md for the
 * parts that undici cannot do.
 */
export class Connector {
  private readonly logger = new Logger('Webhook sending');
  private readonly resolver: HostResolver;
  private readonly proxy: URL | undefined;
  private readonly connect: buildConnector.connector;
  private lastReportAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly configuration: HttpClientConfiguration) {
    this.resolver = new HostResolver(configuration);
    this.proxy = configuration.proxyUrl === undefined ? undefined : new URL(configuration.proxyUrl);
    const { extraAuthority } = configuration;
    this.connect = buildConnector({
      // Reading the authorities takes 35 ms, so the context is created once.
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        ...(extraAuthority === undefined ? {} : { ca: [...rootCertificates, extraAuthority] }),
      }),
      // Ignore NODE_TLS_REJECT_UNAUTHORIZED.
      rejectUnauthorized: true,
      // Disable session resumption, so that every handshake verifies the certificate.
      maxCachedSessions: 0,
      timeout: TIMEOUT,
    });
  }

  /** @throws TransportError */
  async open(origin: URL, stopwatch: Stopwatch, signal: AbortSignal): Promise<Socket> {
    const { protocol, hostname } = origin;
    const port = Number(origin.port || DEFAULT_PORTS[protocol]);
    signal.throwIfAborted();
    const socket =
      this.proxy === undefined
        ? await this.connectDirectly(hostname, port, stopwatch, signal)
        : await this.connectThrough(this.proxy, hostname, port, stopwatch, signal);
    if (protocol === 'http:') return socket;
    stopwatch.enter('tls');
    return this.startTls(socket, hostname, signal);
  }

  private async connectDirectly(
    hostname: string,
    port: number,
    stopwatch: Stopwatch,
    signal: AbortSignal,
  ): Promise<Socket> {
    stopwatch.enter('dns');
    const addresses = await this.resolver.resolve(hostname, signal);
    stopwatch.enter('connect');
    const socket = await this.connectToOneOf(addresses, port, signal);
    const remote = socket.remoteAddress;
    // The connection must lead to one of the addresses that were checked.
    const isChecked = remote !== undefined && addresses.some((address) => isSameAddress(address, remote));
    if (isChecked && (this.configuration.allowsAnyTarget || isPublicUnicast(remote))) return socket;
    socket.destroy();
    throw remote === undefined ? RESET : FORBIDDEN_ADDRESS;
  }

  /** Opens a CONNECT tunnel (RFC 9110, section 9.3.6). The proxy resolves the host name. */
  private async connectThrough(
    proxy: URL,
    hostname: string,
    port: number,
    stopwatch: Stopwatch,
    signal: AbortSignal,
  ): Promise<Socket> {
    stopwatch.enter('connect');
    const socket = await this.connectToProxy(proxy, signal);
    const client = new Client(proxy.origin, {
      // If the socket closes, undici calls `connect` again. Fail in that case, because the tunnel has only this socket.
      connect: (_, callback) =>
        void setImmediate(() => (socket.destroyed ? callback(RESET, null) : callback(null, socket))),
    });
    const path = `${withoutRootDot(hostname)}:${port}`;
    const headers = { host: path, ...credentialsOf(proxy) };
    try {
      const { statusCode } = await rejectOnAbort(client.connect({ path, headers, signal }), signal);
      // undici removes its listeners from the socket of a tunnel, and an error without a listener is fatal.
      socket.on('error', () => undefined);
      if (statusCode < 200 || statusCode >= 300) throw refusalOf(statusCode);
      return socket;
    } catch (error) {
      socket.destroy();
      if (error instanceof ProxyError) this.report(error.message);
      throw connectError(error);
    }
  }

  private async connectToProxy(proxy: URL, signal: AbortSignal): Promise<Socket> {
    try {
      const literal = addressIn(proxy.hostname);
      const addresses = literal
        ? [literal]
        : (await lookup(proxy.hostname, { all: true })).map(({ address }) => address);
      return await this.connectToOneOf(addresses, Number(proxy.port || DEFAULT_PORTS['http:']), signal);
    } catch (error) {
      if (signal.aborted) throw connectError(error);
      this.report('The proxy in WEBHOOK_PROXY_URL is unreachable.');
      throw NOT_OPENED;
    }
  }

  /**
   * Tries the addresses in turn. Node.js's own fallback (`autoSelectFamily`) tries only the first address if a local
   * address is set. Uses only addresses of the egress address's IP version. Without an egress address, uses IPv6 only if the host
   * has no IPv4 address, because receivers know the service by an IPv4 address.
   */
  private async connectToOneOf(
    addresses: readonly string[],
    port: number,
    signal: AbortSignal,
  ): Promise<Socket> {
    const { egressAddress } = this.configuration;
    const wantsIPv4 = egressAddress === undefined ? addresses.some(isIPv4) : isIPv4(egressAddress);
    const candidates = addresses.filter((each) => isIPv4(each) === wantsIPv4).slice(0, MAX_ADDRESSES);
    const connectTo = (hostname: string, within: AbortSignal): Promise<Socket> => {
      const localAddress = egressAddress ?? null;
      return this.connected({ protocol: 'http:', hostname, port: String(port), localAddress }, within);
    };
    const last = candidates.pop();
    if (last === undefined) throw REFUSED;
    try {
      for (const address of candidates) {
        try {
          return await withDeadline(ADDRESS_TIMEOUT, CONNECT_TIMEOUT, signal, (addressSignal) =>
            connectTo(address, addressSignal),
          );
        } catch {
          signal.throwIfAborted();
        }
      }
      return await rejectOnAbort(connectTo(last, signal), signal);
    } catch (error) {
      if (codeOf(error) === 'EADDRNOTAVAIL' && egressAddress !== undefined) {
        this.report('WEBHOOK_EGRESS_ADDRESS is not an address of this machine.');
      }
      throw connectError(error);
    }
  }

  private async startTls(socket: Socket, hostname: string, signal: AbortSignal): Promise<Socket> {
    const literal = addressIn(hostname);
    const name = literal ?? withoutRootDot(hostname);
    const target = { protocol: 'https:', hostname: name, port: '', httpSocket: socket };
    try {
      // TLS does not allow an IP address as the server name (RFC 6066, section 3).
      const options = literal === undefined ? { ...target, servername: name } : target;
      return await rejectOnAbort(this.connected(options, signal), signal);
    } catch (error) {
      socket.destroy();
      throw handshakeError(error);
    }
  }

  /** Wraps undici's connector in a promise. Closes a connection that is established after the signal was aborted. */
  private connected(options: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
    return new Promise((resolve, reject) => {
      this.connect(options, (error, socket) => {
        if (socket === null || error) reject(error);
        else if (signal.aborted) socket.destroy();
        else resolve(socket);
      });
    });
  }

  /** Logs what only the operator can fix, at most once a minute. */
  private report(message: string): void {
    if (performance.now() - this.lastReportAt < MINUTE) return;
    this.lastReportAt = performance.now();
    this.logger.error(message);
  }
}

function refusalOf(statusCode: number): Error {
  if (statusCode === 403) return FORBIDDEN_ADDRESS;
  if (statusCode === 504) return CONNECT_TIMEOUT;
  if (statusCode >= 500) return REFUSED;
  return new ProxyError(
    `The proxy in WEBHOOK_PROXY_URL responded to CONNECT with ${statusCode}. Check the proxy's credentials and rules.`,
  );
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
