import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import {
  isDatabaseUnavailable,
  isMissingPartition,
  isTransient,
  Transactional,
} from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { RequestLogRepository } from '../storage/request-log.repository.js';
import type { NewRequestLogEntry } from '../storage/request-log-entry.js';
import { SavedEntries } from './saved-entries.js';

const RETRY_DELAY = 5 * SECOND;
const ENTRIES_PER_STATEMENT = 1_000;
/** Errors that are no fault of the entries. */
const RETRIED = [isDatabaseUnavailable, isMissingPartition, isTransient];

/**
 * Writes the entries that processes saved before they ended. Several processes may share the files: the database decides which of
 * them writes a file. Commands of operators leave the files alone.
 */
@Injectable()
export class SavedEntriesWriter implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('RequestLogs');
  private readonly stopped = new AbortController();
  private writing: Promise<void> | undefined;

  constructor(
    private readonly files: SavedEntries,
    private readonly repository: RequestLogRepository,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Writes in the background, because the entries of a node that is down must not delay the start. */
  onApplicationBootstrap(): void {
    if (!this.adapterHost.httpAdapter) return;
    this.writing = this.writeAll().catch((error: unknown) =>
      this.logger.error('The saved request log entries cannot be read', error),
    );
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped.abort();
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    const { signal } = this.stopped;
    for (let ids = await this.files.ids(); ids.length > 0; ids = await this.files.ids()) {
      for (const id of ids) if (!signal.aborted) await this.writeFile(id);
      if (signal.aborted) return;
      if ((await this.files.ids()).length > 0)
        await pause(RETRY_DELAY, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private async writeFile(id: string): Promise<void> {
    try {
      const entries = await this.files.read(id);
      if (!entries) return;
      if (await this.writeOnce(id, entries))
        this.logger.log(`${entries.length} saved request log entries were written`);
      await this.files.remove(id);
    } catch (error) {
      if (this.stopped.signal.aborted || RETRIED.some((isRetried) => isRetried(error))) return;
      const path = await this.files.setAside(id);
      this.logger.error(
        `A file of request log entries could not be written and is set aside as ${path}`,
        error,
      );
    }
  }

  /**
   * Writes the entries of a file and the fact that they are written, or nothing.
   *
   * @returns false if they already were written
   * @throws DOMException AbortError if the process ends
   */
  @Transactional()
  async writeOnce(id: string, entries: readonly NewRequestLogEntry[]): Promise<boolean> {
    if (!(await this.repository.claimFile(id))) return false;
    for (let first = 0; first < entries.length; first += ENTRIES_PER_STATEMENT) {
      this.stopped.signal.throwIfAborted();
      await this.repository.append(entries.slice(first, first + ENTRIES_PER_STATEMENT));
    }
    return true;
  }
}
