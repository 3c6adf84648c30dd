import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTls, createSecureContext, rootCertificates } from 'node:tls';
import { lookup } from 'node:dns/promises';
import { Logger } from '@nestjs/common';
import { MINUTE } from '../time/index.js';
import { HostResolver } from './host-resolver.js';
import type { HttpClientConfiguration } from './http-client.configuration.js';
import { ProxyError, tunnelThrough } from './proxy-tunnel.js';
import { isPublicUnicast, isSameAddress } from './public-unicast.js';
import { addressIn, withoutRootDot } from './public-url.js';
import type { Stopwatch } from './stopwatch.js';
import { connectToOneOf } from './tcp-connection.js';
import { withDeadline } from './time-limit.js';
import {
  codeOf,
  connectFailure,
  FORBIDDEN_ADDRESS,
  handshakeFailure,
  NO_CONNECTION,
  NO_HANDSHAKE,
  RESET,
} from './transport-failure.js';

/** Milliseconds for TCP (and the proxy), and again for TLS. */
const CONNECT_TIMEOUT = 3000;
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Opens connections to receivers. Name, address and connection are taken step by step here, and undici is
 * handed the finished socket: so the address that was judged is the very one that is connected to, each
 * step has its time, and an abort reaches all of them (undici's own connecting outlives its signal).
 */
export class Connector {
  private readonly logger = new Logger('Webhook sending');
  private readonly resolver: HostResolver;
  private readonly proxy: URL | undefined;
  private readonly secureContext;
  private complainedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly configuration: HttpClientConfiguration) {
    this.resolver = new HostResolver(configuration);
    this.proxy = configuration.proxyUrl === undefined ? undefined : new URL(configuration.proxyUrl);
    const { extraAuthority } = configuration;
    // Once: reading the authorities takes 35 ms.
    this.secureContext = createSecureContext({
      minVersion: 'TLSv1.2',
      ...(extraAuthority === undefined ? {} : { ca: [...rootCertificates, extraAuthority] }),
    });
  }

  /** @throws TransportError */
  async open(url: URL, stopwatch: Stopwatch, signal: AbortSignal): Promise<Socket> {
    const port = url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port);
    const socket =
      this.proxy === undefined
        ? await this.direct(url.hostname, port, stopwatch, signal)
        : await this.throughProxy(this.proxy, url.hostname, port, stopwatch, signal);
    if (url.protocol === 'http:') return socket;
    return stopwatch.measure('tls', () => this.secure(socket, url.hostname, signal));
  }

  private async direct(
    hostname: string,
    port: number,
    stopwatch: Stopwatch,
    signal: AbortSignal,
  ): Promise<Socket> {
    const addresses = await stopwatch.measure('dns', () => this.resolver.resolve(hostname, signal));
    const socket = await stopwatch.measure('connect', () => this.tcp(addresses, port, signal));
    if (!this.mayTalkTo(socket.remoteAddress, addresses)) {
      socket.destroy();
      throw socket.remoteAddress === undefined ? RESET : FORBIDDEN_ADDRESS;
    }
    return socket;
  }

  /** Once more, where the connection really leads: it must be an address that was judged. */
  private mayTalkTo(remote: string | undefined, judged: readonly string[]): boolean {
    if (remote === undefined || !judged.some((address) => isSameAddress(address, remote))) return false;
    return this.configuration.allowsAnyTarget || isPublicUnicast(remote);
  }

  private async throughProxy(
    proxy: URL,
    hostname: string,
    port: number,
    stopwatch: Stopwatch,
    signal: AbortSignal,
  ): Promise<Socket> {
    const host = addressIn(hostname) ?? withoutRootDot(hostname);
    return stopwatch.measure('connect', async () => {
      const connection = await this.toProxy(proxy, signal);
      try {
        return await withDeadline(CONNECT_TIMEOUT, NO_CONNECTION, signal, (limited) =>
          tunnelThrough(proxy, connection, { host, port }, limited),
        );
      } catch (error) {
        if (error instanceof ProxyError) this.complain(error.message);
        throw connectFailure(error);
      }
    });
  }

  private async toProxy(proxy: URL, signal: AbortSignal): Promise<Socket> {
    try {
      const literal = addressIn(proxy.hostname);
      const addresses = literal ? [literal] : (await lookup(proxy.hostname, { all: true })).map(addressOf);
      return await this.tcp(addresses, Number(proxy.port || PORTS['http:']), signal);
    } catch (error) {
      if (!signal.aborted) this.complain('The proxy of WEBHOOK_PROXY_URL cannot be reached.');
      throw connectFailure(error);
    }
  }

  private async tcp(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
    const { egressAddress: localAddress } = this.configuration;
    try {
      return await withDeadline(CONNECT_TIMEOUT, NO_CONNECTION, signal, (limited) =>
        connectToOneOf({ addresses, port, localAddress }, limited),
      );
    } catch (error) {
      if (localAddress !== undefined && codeOf(error) === 'EADDRNOTAVAIL') {
        this.complain('WEBHOOK_EGRESS_ADDRESS is not an address of this machine.');
      }
      throw connectFailure(error);
    }
  }

  private async secure(socket: Socket, hostname: string, signal: AbortSignal): Promise<Socket> {
    const literal = addressIn(hostname);
    const name = withoutRootDot(hostname);
    const secured = connectTls({
      socket,
      host: literal ?? name,
      // An address is no name to ask for (RFC 6066, section 3).
      ...(literal === undefined && { servername: name }),
      secureContext: this.secureContext,
      ALPNProtocols: ['http/1.1'],
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
    });
    secured.on('error', () => undefined);
    try {
      await withDeadline(CONNECT_TIMEOUT, NO_HANDSHAKE, signal, (limited) =>
        once(secured, 'secureConnect', { signal: limited }),
      );
      return secured;
    } catch (error) {
      secured.destroy();
      socket.destroy();
      throw handshakeFailure(error);
    }
  }

  /** What only the operator can mend; once a minute, however many webhooks it concerns. */
  private complain(sentence: string): void {
    if (performance.now() - this.complainedAt < MINUTE) return;
    this.complainedAt = performance.now();
    this.logger.error(sentence);
  }
}

function addressOf({ address }: { readonly address: string }): string {
  return address;
}
