import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { HttpConfiguration } from './http.configuration.js';

/**
 * The first step of a shutdown. The process reports that it is not ready and closes each connection after its
 * response, but keeps serving for `SHUTDOWN_DELAY_MS`: load balancers send requests until they notice.
 */
@Injectable()
export class GracefulShutdown implements OnModuleDestroy {
  private started = false;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly configuration: HttpConfiguration,
  ) {}

  get isShuttingDown(): boolean {
    return this.started;
  }

  /** Nest closes the port afterwards. */
  async onModuleDestroy(): Promise<void> {
    this.started = true;
    // The worker and the CLI have no server, and after a failed start the server is not listening.
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter<Server> | null;
    if (adapter?.getHttpServer().listening) await pause(this.configuration.shutdownDelayMilliseconds);
  }
}
