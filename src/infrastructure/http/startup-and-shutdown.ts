import type { Server } from 'node:http';
import { setImmediate as immediately, setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { stopListening } from '../framework-patches/index.js';
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
  private readonly logger = new Logger('Shutdown');
  /** The function that gives up each task. */
  private readonly running = new Map<Promise<void>, () => Promise<unknown>>();

  /**
   * @param task must handle its own errors
   * @param release called if the process stops before the task has finished: lets another process repeat it without waiting for the end
   *   of a lease
   */
  begin(task: () => Promise<void>, release: () => Promise<unknown> = () => Promise.resolve()): void {
    const running = task().finally(() => this.running.delete(running));
    this.running.set(running, release);
  }

  /** Resolves when all tasks have finished, including tasks that other tasks started. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running.keys());
  }

  /** Waits for the tasks, and then gives up those that are still running. @param timeout in milliseconds */
  async end(timeout: number): Promise<void> {
    await Promise.race([this.settled(), pause(timeout, undefined, { ref: false })]);
    const released = await Promise.allSettled([...this.running.values()].map((release) => release()));
    for (const each of released)
      if (each.status === 'rejected')
        this.logger.warn(
          'A task could not be released; another process repeats it after its lease',
          each.reason,
        );
  }
}

/** Milliseconds. */
const IDLE_CONNECTIONS_TIME = 2_000;
const NO_NEW_CONNECTIONS_TIME = 1_000;

/**
 * The first steps of a shutdown. The process reports that it is not ready and closes each connection after its
 * response, but keeps serving for `SHUTDOWN_DELAY_MS`: load balancers send requests until they notice. Then it closes the port.
 */
@Injectable()
export class GracefulShutdown implements OnModuleDestroy {
  private started = false;
  private closesConnections = false;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly configuration: HttpConfiguration,
  ) {}

  get isShuttingDown(): boolean {
    return this.started;
  }

  /**
   * Whether a response closes its connection. Before the port closes, connections stay open for a second: a proxy that does not notice
   * would open a new one for each request, and the operating system resets those that the process has not accepted when the port closes.
   */
  get closesAfterResponse(): boolean {
    return this.closesConnections;
  }

  async onModuleDestroy(): Promise<void> {
    this.started = true;
    this.closesConnections = true;
    if (!this.server) return;
    const delay = this.configuration.shutdownDelayMilliseconds;
    await pause(Math.max(0, delay - NO_NEW_CONNECTIONS_TIME));
    this.closesConnections = delay === 0;
    await pause(Math.min(delay, NO_NEW_CONNECTIONS_TIME));
  }

  /**
   * Closes the port, and lets connections that were idle during the whole delay get two more seconds: proxies without health checks, such as
   * nginx, notice only the closed port, and may be sending on one. Nest closes these connections afterwards.
   */
  async closePort(): Promise<void> {
    const { server } = this;
    // Follows the acceptance of connections in the event loop.
    await immediately();
    this.closesConnections = true;
    if (!server || this.configuration.shutdownDelayMilliseconds === 0) return;
    await Promise.race([stopListening(server), pause(IDLE_CONNECTIONS_TIME, undefined, { ref: false })]);
  }

  /** The worker and the CLI have no server, and after a failed start the server is not listening. */
  private get server(): Server | undefined {
    const server = (this.adapterHost.httpAdapter as AbstractHttpAdapter<Server> | null)?.getHttpServer();
    return server?.listening ? server : undefined;
  }
}
