import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import {
  ENVIRONMENTS,
  ServiceConfiguration,
  type PlatformEnvironment,
  type Surface,
} from '../config/index.js';

/** The public URL of a surface, for links in emails and for the issuer of tokens. */
@Injectable()
export class PublicAddress implements OnApplicationBootstrap {
  private port: number | undefined;

  constructor(
    private readonly configuration: ServiceConfiguration,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Remembers the port, because emails are still sent after the server has closed. */
  onApplicationBootstrap(): void {
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter<Server> | null;
    const server = adapter?.getHttpServer();
    server?.once('listening', () => (this.port = (server.address() as AddressInfo).port));
  }

  /**
   * Returns the configured URL without a trailing slash. If it is not configured, returns a local URL with the port
   * that this process listens on. Never uses a request's Host header, because the client chooses it.
   */
  of(surface: Surface): string {
    const address = this.find(surface);
    if (address === undefined)
      throw new Error(
        `The public URL of the ${surface} surface is not known. Set ${surface.toUpperCase()}_URL.`,
      );
    return address;
  }

  /** Like `of()`, but returns undefined in a process that neither listens nor has the URL configured, such as a worker. */
  find(surface: Surface): string | undefined {
    const configured = this.configuration.publicUrlOf(surface);
    if (configured !== undefined) return configured;
    return this.port === undefined ? undefined : `http://127.0.0.1:${this.port}`;
  }

  /** Returns the link to a page of the dashboard, for an email. A worker that does not know its address leaves it out. */
  dashboardLink(path: string, label: string): { readonly link: string; readonly label: string }[] {
    const address = this.find('dashboard');
    return address === undefined ? [] : [{ link: `${address}${path}`, label }];
  }
}

/** Returns the path of a page of the dashboard that shows one environment. */
export function dashboardPath(environment: PlatformEnvironment, ...segments: readonly string[]): string {
  return ['/dashboard', environment, ...segments.map(encodeURIComponent)].join('/');
}

/** Returns the paths of a page in each environment, for `@Controller()`. A placeholder would also match other pages. */
export function inEachEnvironment(page = ''): string[] {
  return ENVIRONMENTS.map((environment) => ['dashboard', environment, page].filter(Boolean).join('/'));
}

/** Returns the environment that a page of the dashboard shows, or undefined if it shows none. */
export function environmentOf(path: string): PlatformEnvironment | undefined {
  return ENVIRONMENTS.find((each) => `${path}/`.startsWith(`${dashboardPath(each)}/`));
}
