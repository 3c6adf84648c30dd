import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { isTransientFailure, Transactional } from '../../../infrastructure/database/index.js';
import {
  ErasedUsers,
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import type { NewRequestLogEntry } from '../storage/request-log-entry.js';
import { RequestLogRepository } from '../storage/request-log.repository.js';

/** Maximum number of bytes of all files together. */
const MAX_BYTES = 64 * 1024 * 1024;
const EXTENSION = '.ndjson';
const DRAFT = '.draft';
const REFUSED = '.refused';
/** Milliseconds after which a file that is not complete was left by a process that was killed. */
const DRAFT_TIME = MINUTE / 2;

const RETRY_DELAY = 5 * SECOND;
/** Maximum milliseconds that a shutdown waits for a statement. Its transaction is then rolled back, or another process finds it. */
const STOP_TIMEOUT = SECOND;
const ENTRIES_PER_STATEMENT = 1_000;

/**
 * Keeps entries in `DATA_DIR/request-log` that a process could not write before it ended, and writes them after the next start.
 * Each file has an entry per line, and its name is the ID by which the database recognizes that the file has been written.
 * Several processes may share the files: the database decides which of them writes a file. Commands of operators leave the
 * files alone. The identifiers of erased users are replaced in the files of the process that erases, and in all others when they
 * are written.
 */
@HoldsUserData('records')
@Injectable()
export class EntrySpool implements OnApplicationBootstrap, OnModuleDestroy, UserDataHolder {
  private readonly logger = new Logger('RequestLogs');
  private readonly folder: string;
  private readonly stopped = new AbortController();
  private writing: Promise<void> | undefined;

  constructor(
    { dataDirectory }: ServiceConfiguration,
    private readonly requestLog: RequestLogRepository,
    private readonly erased: ErasedUsers,
    private readonly clock: Clock,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    this.folder = resolve(dataDirectory, 'request-log');
  }

  /** Writes in the background, because the entries of a node that is down must not delay the start. */
  onApplicationBootstrap(): void {
    if (!this.adapterHost.httpAdapter) return;
    this.writing = this.writeAll().catch((error: unknown) =>
      this.logger.error('The saved request log entries cannot be read', error),
    );
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped.abort();
    await Promise.race([this.writing, pause(STOP_TIMEOUT, undefined, { ref: false })]);
  }

  /** Writes a file with the newest entries that fit, which are the last ones. @returns how many do not fit */
  async save(entries: readonly NewRequestLogEntry[]): Promise<number> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    let room = MAX_BYTES - (await this.usedBytes());
    const lines: string[] = [];
    for (const entry of entries.toReversed()) {
      const line = `${JSON.stringify(entry)}\n`;
      room -= Buffer.byteLength(line);
      if (room < 0) break;
      lines.push(line);
    }
    if (lines.length > 0) await writeWhole(this.pathOf(randomUUID()), lines.toReversed().join(''));
    return entries.length - lines.length;
  }

  async ids(): Promise<string[]> {
    return (await this.names())
      .filter((name) => name.endsWith(EXTENSION))
      .map((name) => name.slice(0, -EXTENSION.length));
  }

  /** Returns undefined if another process has removed the file. @throws SyntaxError if the file has other content */
  async read(id: string): Promise<NewRequestLogEntry[] | undefined> {
    const text = await readFile(this.pathOf(id), 'utf8').catch(ignoreMissing);
    return text
      ?.split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const entry = JSON.parse(line) as NewRequestLogEntry;
        return { ...entry, createdAt: new Date(entry.createdAt) };
      });
  }

  remove(id: string): Promise<void> {
    return rm(this.pathOf(id), { force: true });
  }

  /** Keeps a file that cannot be written to the log. @returns its new path */
  async quarantine(id: string): Promise<string> {
    const path = `${this.pathOf(id)}${REFUSED}`;
    await rename(this.pathOf(id), path).catch(ignoreMissing);
    return path;
  }

  /** Rewrites the files that name the user, including those in quarantine, and removes those that were never completed. */
  async eraseBatch({ clientId, externalUserId, pseudonym }: ErasedUser): Promise<number> {
    const member = (value: string): string => JSON.stringify({ externalUserId: value }).slice(1, -1);
    const [identifier, client] = [member(externalUserId), JSON.stringify({ clientId }).slice(1, -1)];
    let erased = 0;
    for (const name of await this.names()) {
      const path = join(this.folder, name);
      const lines = (await readFile(path, 'utf8').catch(ignoreMissing))?.split('\n') ?? [];
      const isOfUser = (line: string): boolean => line.includes(client) && line.includes(identifier);
      const found = lines.filter(isOfUser).length;
      if (found === 0) continue;
      if (name.endsWith(DRAFT)) {
        // Another process may be writing it.
        const { mtimeMs = Infinity } = (await stat(path).catch(ignoreMissing)) ?? {};
        if (mtimeMs > this.clock.milliseconds() - DRAFT_TIME) continue;
        await rm(path, { force: true });
      } else {
        const anonymous = (line: string): string => line.replaceAll(identifier, () => member(pseudonym));
        await writeWhole(path, lines.map((line) => (isOfUser(line) ? anonymous(line) : line)).join('\n'));
      }
      erased += found;
    }
    return erased;
  }

  private async writeAll(): Promise<void> {
    const { signal } = this.stopped;
    for (let ids = await this.ids(); ids.length > 0; ids = await this.ids()) {
      for (const id of ids) if (!signal.aborted) await this.writeFile(id);
      if (signal.aborted) return;
      if ((await this.ids()).length > 0)
        await pause(RETRY_DELAY, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private async writeFile(id: string): Promise<void> {
    try {
      const entries = await this.read(id);
      if (!entries) return;
      if (await this.writeOnce(id, entries))
        this.logger.log(`${entries.length} saved request log entries were written`);
      await this.remove(id);
    } catch (error) {
      if (this.stopped.signal.aborted || isTransientFailure(error)) return;
      const path = await this.quarantine(id);
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
   * @throws AbortError if the process is stopping
   */
  @Transactional()
  private async writeOnce(id: string, entries: readonly NewRequestLogEntry[]): Promise<boolean> {
    if (!(await this.requestLog.claimFile(id))) return false;
    for (let first = 0; first < entries.length; first += ENTRIES_PER_STATEMENT) {
      this.stopped.signal.throwIfAborted();
      const page = entries.slice(first, first + ENTRIES_PER_STATEMENT);
      await this.requestLog.append(await this.erased.pseudonymize(page));
    }
    return true;
  }

  private pathOf(id: string): string {
    return join(this.folder, `${id}${EXTENSION}`);
  }

  private async usedBytes(): Promise<number> {
    let bytes = 0;
    for (const name of await this.names())
      bytes += (await stat(join(this.folder, name)).catch(ignoreMissing))?.size ?? 0;
    return bytes;
  }

  private async names(): Promise<string[]> {
    return (await readdir(this.folder).catch(ignoreMissing)) ?? [];
  }
}

/** Gives the file its name only when it is complete, because other processes may look for files at any time. */
async function writeWhole(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
