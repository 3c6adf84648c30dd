import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { ServiceConfiguration, type Surface } from '../config/index.js';

/** Under which address a surface is met, for what leaves the house: links in mails, the issuer of tokens. */
@Injectable()
export class PublicAddress implements OnApplicationBootstrap {
  private port: number | undefined;

  constructor(
    private readonly configuration: ServiceConfiguration,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** The port is kept, because mails still leave when the server has closed. */
  onApplicationBootstrap(): void {
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter<Server> | null;
    const server = adapter?.getHttpServer();
    server?.once('listening', () => (this.port = (server.address() as AddressInfo).port));
  }

  /**
   * The configured URL, without a slash at its end. Outside production it may be missing, and is then the
   * port that this process listens on. Never taken from a request: its Host header is the caller's to choose.
   */
  of(surface: Surface): string {
    const configured = this.configuration.publicUrlOf(surface);
    if (configured !== undefined) return configured.replace(/\/+$/, '');
    if (this.port === undefined)
      throw new Error(`The public address of the ${surface} surface is not configured`);
    return `http://127.0.0.1:${this.port}`;
  }
}
