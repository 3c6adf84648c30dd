import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { ServiceConfiguration, type Surface } from '../config/index.js';

/** Under which address a surface is met, for what leaves the house: links in mails, the issuer of tokens. */
@Injectable()
export class PublicAddress {
  constructor(
    private readonly configuration: ServiceConfiguration,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /**
   * The configured URL, without a slash at its end. Outside production it may be missing, and is then the
   * port that this process listens on. Never taken from a request: its Host header is the caller's to choose.
   */
  of(surface: Surface): string {
    const configured = this.configuration.publicUrlOf(surface);
    if (configured !== undefined) return configured.replace(/\/+$/, '');
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter<Server> | null;
    const address = adapter?.getHttpServer().address() as AddressInfo | null | undefined;
    if (!address) throw new Error(`The public address of the ${surface} surface is not configured`);
    return `http://127.0.0.1:${address.port}`;
  }
}
