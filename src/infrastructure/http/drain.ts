import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { HttpConfiguration } from './http.configuration.js';

/**
 * The first step of a shutdown. The process says that it is not ready and closes each connection with its answer, but
 * serves as before: whoever closes the port before the load balancers have looked refuses the calls that they send
 * until then.
 */
@Injectable()
export class Drain implements OnModuleDestroy {
  private begun = false;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly configuration: HttpConfiguration,
  ) {}

  get hasBegun(): boolean {
    return this.begun;
  }

  /** Nest closes the port after this. */
  async onModuleDestroy(): Promise<void> {
    this.begun = true;
    // The worker and the operators' commands have no server, and a start that failed none that listens.
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter<Server> | null;
    if (adapter?.getHttpServer().listening) await pause(this.configuration.shutdownDelayMilliseconds);
  }
}
