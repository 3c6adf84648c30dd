import { BADNAME, lookup, NODATA, NOTFOUND, Resolver } from 'node:dns/promises';
import { isIPv4, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { Logger } from '@nestjs/common';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { CachedValue } from '../caching/index.js';
import { trustedWith } from '../config/index.js';
import { MINUTE, SECOND } from '../time/index.js';
import { rejectOnAbort, withDeadline, type Stopwatch } from './stopwatch.js';
import type { HttpClientConfiguration } from './http-client.configuration.js';
import { isPublicUnicast, isSameAddress, translated, translatorsIn, usualAddress } from './ip-addresses.js';
import { addressIn, withoutRootDot } from './public-url.js';
import {
  codeOf,
  connectError,
  FORBIDDEN_ADDRESS,
  handshakeError,
  NO_CONNECTION,
  NO_DNS_ANSWER,
  NOT_OPENED,
  NOT_OPENED_IN_TIME,
  REFUSED,
  RESET,
  TOO_MUCH,
  UNRESOLVED,
} from './transport-error.js';

/**
 * undici's connect timeout, in milliseconds. It only closes sockets that nothing waits for anymore, because the deadline of
 * the request (10 seconds) comes first.
 */
const TIMEOUT = 11 * SECOND;
/** Milliseconds after which the next address is tried, too. Others get the connection only if a slow one needs more. */
const ATTEMPT_DELAY = 500;
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

type Translators = ReturnType<typeof translatorsIn>;

/**
 * Resolves the host name of a receiver and checks every address. Queries DNS directly, because `dns.lookup` occupies one
 * of libuv's four threads until the system resolver times out, so four host names that do not respond would block all
 * other lookups.
 */
class HostResolver {
  private readonly resolver = new Resolver({ timeout: QUERY_TIMEOUT, tries: TRIES });
  /** The prefixes of translators (NAT64) in this network, which only its DNS servers know. */
  private readonly translators = new CachedValue({
    load: () => this.findTranslators(),
    freshFor: MINUTE,
    agePerLoadTime: 0,
    onFailure: () => undefined,
  });

  private lastTranslators: Translators = [];

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
    if (!(this.configuration.allowsAnyTarget || (await this.arePublic(addresses)))) throw FORBIDDEN_ADDRESS;
    return addresses;
  }

  private async arePublic(addresses: readonly string[]): Promise<boolean> {
    const translators = addresses.every(isIPv4)
      ? []
      : ((await this.translators.read()) ?? this.lastTranslators);
    return addresses.every((address) => isPublicUnicast(translated(address, translators)));
  }

  /** Keeps those that were found last if the servers do not respond. */
  private async findTranslators(): Promise<Translators> {
    const found = this.resolver.resolve6('ipv4only.arpa').then(translatorsIn);
    this.lastTranslators = await found.catch(({ code = '' }: NodeJS.ErrnoException) =>
      NO_SUCH_NAME.includes(code) ? [] : this.lastTranslators,
    );
    return this.lastTranslators;
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
    // DNS may have responded that there is no such name, or no such address.
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

/** Bytes of TLS beyond twice the content. A handshake with a long chain of certificates has a fourth of them. */
const MAX_TLS_OVERHEAD = 64 * 1024;
/** Milliseconds. */
const TLS_CHECK_INTERVAL = 50;

/**
 * Closes connections on which more TLS arrives than their content needs. Nobody else notices handshakes, new keys and session
 * tickets, of which a receiver can send any number: 8,000 new keys a second, 200 KB, take a fifth of the event loop.
 */
class TlsOverhead {
  /** The sockets and what decrypts them, which does not exist before the handshake. */
  private readonly connections = new Map<Socket, Socket | undefined>();
  private timer: NodeJS.Timeout | undefined;

  watch(socket: Socket, content?: Socket): void {
    if (!this.connections.has(socket)) socket.once('close', () => this.connections.delete(socket));
    this.connections.set(socket, content);
    this.timer ??= setInterval(() => this.check(), TLS_CHECK_INTERVAL).unref();
  }

  private check(): void {
    for (const [socket, content] of this.connections) {
      if (socket.bytesRead > MAX_TLS_OVERHEAD + 2 * (content?.bytesRead ?? 0))
        (content ?? socket).destroy(TOO_MUCH);
      if (socket.destroyed || content?.destroyed) this.connections.delete(socket);
    }
    if (this.connections.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
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
  private readonly logger = new Logger('Outbound requests');
  private readonly resolver: HostResolver;
  private readonly tlsOverhead = new TlsOverhead();
  private readonly proxy: URL | undefined;
  private readonly egressAddress: string | undefined;
  private readonly connect: buildConnector.connector;
  private lastReportAt = Number.NEGATIVE_INFINITY;

  constructor(configuration: HttpClientConfiguration) {
    this.resolver = new HostResolver(configuration);
    this.proxy = configuration.proxyUrl === undefined ? undefined : new URL(configuration.proxyUrl);
    const { egressAddress, extraAuthority } = configuration;
    this.egressAddress = egressAddress && usualAddress(egressAddress);
    this.connect = buildConnector({
      // Reading the authorities takes 35 ms, so the context is created once.
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        ...(extraAuthority === undefined ? {} : { ca: trustedWith(extraAuthority) }),
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
    if (remote !== undefined && addresses.some((address) => isSameAddress(address, remote))) return socket;
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
      const response = await rejectOnAbort(client.connect({ path, headers, signal }), signal);
      // undici removes its listeners from the socket of a tunnel, and an error without a listener is fatal.
      socket.on('error', () => undefined);
      if (response.statusCode < 200 || response.statusCode >= 300) throw refusalOf(response);
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
      this.report('The proxy in OUTBOUND_PROXY_URL is unreachable.');
      throw NOT_OPENED;
    }
  }

  /**
   * Returns the first connection to one of the addresses. Another attempt begins when one fails, or takes long (RFC 8305, section 5).
   * IPv4 comes first, because receivers know the service by an IPv4 address; with an egress address, only its IP version is used.
   * Node.js's own fallback (`autoSelectFamily`) tries only the first address if a local address is set, and ends slow attempts.
   */
  private async connectToOneOf(
    addresses: readonly string[],
    port: number,
    signal: AbortSignal,
  ): Promise<Socket> {
    const { egressAddress } = this;
    const candidates = inTurns(addresses)
      .filter((each) => egressAddress === undefined || isIPv4(each) === isIPv4(egressAddress))
      .slice(0, MAX_ADDRESSES);
    if (candidates.length === 0) throw REFUSED;
    const decided = new AbortController();
    const within = AbortSignal.any([signal, decided.signal]);
    const connectTo = async (hostname: string): Promise<Socket> => {
      within.throwIfAborted();
      const localAddress = egressAddress ?? null;
      const options = { protocol: 'http:', hostname, port: String(port), localAddress };
      const socket = await this.connected(options, within);
      decided.abort();
      return socket;
    };
    let turn: Promise<unknown> = Promise.resolve();
    const attempts = candidates.map((address) => {
      const attempt = turn.then(() => connectTo(address));
      const delay = turn.then(() => pause(ATTEMPT_DELAY, undefined, { signal: within }));
      turn = Promise.race([attempt, delay]).catch(() => undefined);
      return attempt;
    });
    try {
      return await rejectOnAbort(Promise.any(attempts), signal);
    } catch (error) {
      const causes = error instanceof AggregateError ? error.errors : [error];
      if (egressAddress !== undefined && causes.some((cause) => codeOf(cause) === 'EADDRNOTAVAIL')) {
        this.report('WEBHOOK_EGRESS_ADDRESS is not an address of this machine.');
      }
      throw connectError(causes[0]);
    }
  }

  private async startTls(socket: Socket, hostname: string, signal: AbortSignal): Promise<Socket> {
    const literal = addressIn(hostname);
    const name = literal ?? withoutRootDot(hostname);
    const target = { protocol: 'https:', hostname: name, port: '', httpSocket: socket };
    try {
      // TLS does not allow an IP address as the server name (RFC 6066, section 3).
      const options = literal === undefined ? { ...target, servername: name } : target;
      this.tlsOverhead.watch(socket);
      const content = await rejectOnAbort(this.connected(options, signal), signal);
      this.tlsOverhead.watch(socket, content);
      return content;
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

/** Headers in which Smokescreen, Squid and others (RFC 9209) explain why there is no tunnel. */
const REASON_HEADERS = ['x-smokescreen-error', 'x-squid-error', 'proxy-status'];

function refusalOf({ statusCode, headers }: Dispatcher.ConnectData): Error {
  // Smokescreen refuses addresses with 407. One that asks for credentials names a scheme (RFC 9110, section 15.5.8).
  const isForbidden = statusCode === 407 && headers['proxy-authenticate'] === undefined;
  if (isForbidden || statusCode === 403 || statusCode === 451) return FORBIDDEN_ADDRESS;
  if (REASON_HEADERS.some((name) => /resolve|dns/i.test(String(headers[name])))) return UNRESOLVED;
  if (statusCode === 504) return NOT_OPENED_IN_TIME;
  if (statusCode === 502 || statusCode === 503) return NO_CONNECTION;
  return new ProxyError(
    `The proxy in OUTBOUND_PROXY_URL responded to CONNECT with ${statusCode}. Check the proxy's credentials and rules.`,
  );
}

/** Alternates between IPv4 and IPv6, so that four addresses of one version are not all that is tried. */
function inTurns(addresses: readonly string[]): string[] {
  const versions = [addresses.filter(isIPv4), addresses.filter((each) => !isIPv4(each))];
  return addresses.flatMap((_, index) => versions.flatMap((version) => version.slice(index, index + 1)));
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}
