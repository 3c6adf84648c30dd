import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { HttpConfiguration } from './http.configuration.js';

/** The last steps of a start, which need the port: the process listens already, but reports that it is not ready. */
@Injectable()
export class Startup {
  private isCompleting = false;

  get isRunning(): boolean {
    return this.isCompleting;
  }

  /** If the work fails, the process is never ready. */
  async complete(work: () => Promise<void>): Promise<void> {
    this.isCompleting = true;
    await work();
    this.isCompleting = false;
  }
}

/**
 * Work that continues after the response, such as sending email. Shutdown waits up to 5 seconds for this work before
 * Nest closes the global modules. Nest closes them in no defined order, so the database could otherwise close first.
 */
@Injectable()
export class BackgroundTasks {
  private readonly running = new Set<Promise<void>>();

  /** @param task must handle its own errors */
  begin(task: () => Promise<void>): void {
    const running = task().finally(() => this.running.delete(running));
    this.running.add(running);
  }

  /** Resolves when all tasks have finished, including tasks that other tasks started. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }
}

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
