import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { isTransientFailure, JobFailures, Transactional } from '../../../infrastructure/database/index.js';
import {
  ErasedUsers,
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { anonymized, type NewRequestLogEntry } from '../request-log-entry.js';
import { RequestLogRepository } from '../storage/request-log.repository.js';

/** Maximum number of bytes of all files that wait to be written. */
const MAX_BYTES = 64 * 1024 * 1024;
const EXTENSION = '.ndjson';
const DRAFT = '.draft';
const REFUSED = '.refused';
/** Milliseconds after which a file that is not complete was left by a process that was killed. It is removed. */
const DRAFT_TIME = MINUTE / 2;

const RETRY_DELAY = 5 * SECOND;
/** Maximum milliseconds that a shutdown waits for a statement. Its transaction is then rolled back, or another process finds it. */
const STOP_TIMEOUT = SECOND;
const ENTRIES_PER_STATEMENT = 1_000;

/**
 * Keeps entries in `DATA_DIR/request-log` that a process could not write before it ended. Any process that shares the folder
 * writes them: when it starts, or within 10 minutes.
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
  /** Milliseconds after which a process looks for files of others: in a rolling restart, they stop after this one has started. */
  protected readonly lookInterval: number = 10 * MINUTE;
  private readonly stopped = new AbortController();
  private writing: Promise<void> | undefined;

  @Inject()
  private readonly failures!: JobFailures;

  constructor(
    { dataDirectory }: ServiceConfiguration,
    private readonly requestLog: RequestLogRepository,
    private readonly erased: ErasedUsers,
    private readonly clock: Clock,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    this.folder = folderIn(dataDirectory);
  }

  /** Writes in the background, because the entries of a node that is down must not delay the start. */
  onApplicationBootstrap(): void {
    if (!this.adapterHost.httpAdapter) return;
    this.writing = this.writeAll();
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

  count(): Promise<FileCounts> {
    return countIn(this.folder);
  }

  async ids(): Promise<string[]> {
    return (await this.names())
      .filter((name) => name.endsWith(EXTENSION))
      .map((name) => name.slice(0, -EXTENSION.length));
  }

  /**
   * Reads the entries of a file, which may be as large as all files together, page by page. There are none if another process has
   * removed it.
   *
   * @throws SyntaxError if the file has other content
   */
  async *read(id: string): AsyncGenerator<readonly NewRequestLogEntry[]> {
    let page: NewRequestLogEntry[] = [];
    for await (const line of linesOf(this.pathOf(id))) {
      if (line.trim() === '') continue;
      const entry = JSON.parse(line) as NewRequestLogEntry;
      page.push({ ...entry, createdAt: new Date(entry.createdAt) });
      if (page.length < ENTRIES_PER_STATEMENT) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
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
    const identifier = member(externalUserId);
    const client = JSON.stringify({ clientId }).slice(1, -1);
    const isOfUser = (line: string): boolean => line.includes(client) && line.includes(identifier);
    const anonymous = (line: string): string => (isOfUser(line) ? anonymousLine(line, pseudonym) : line);
    let erased = 0;
    for (const name of await this.names()) {
      const path = join(this.folder, name);
      let found = 0;
      for await (const line of linesOf(path)) if (isOfUser(line)) found += 1;
      if (found === 0) continue;
      if (!name.endsWith(DRAFT)) await writeWhole(path, changed(linesOf(path), anonymous));
      else if (!(await this.removeDraft(path))) continue;
      erased += found;
    }
    return erased;
  }

  /** @returns false if another process may be writing it */
  private async removeDraft(path: string): Promise<boolean> {
    const { mtimeMs = Infinity } = (await stat(path).catch(ignoreMissing)) ?? {};
    if (mtimeMs > this.clock.milliseconds() - DRAFT_TIME) return false;
    await rm(path, { force: true });
    return true;
  }

  /** Not scheduled work: processes without background work save entries, too. */
  private async writeAll(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      const delay = (await this.writeFiles()) ? this.lookInterval : RETRY_DELAY;
      await pause(delay, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** @returns whether no file is left */
  private async writeFiles(): Promise<boolean> {
    try {
      for (const name of await this.names())
        if (name.endsWith(DRAFT)) await this.removeDraft(join(this.folder, name));
      for (const id of await this.ids()) if (!this.stopped.signal.aborted) await this.writeFile(id);
      return (await this.ids()).length === 0;
    } catch (error) {
      this.reportWaiting(error);
      return false;
    }
  }

  private reportWaiting(error: unknown): void {
    if (this.failures.report(this, error))
      this.logger.warn(`Saved request log entries wait to be written: ${(error as Error).message}`);
  }

  private async writeFile(id: string): Promise<void> {
    try {
      const written = await this.writeOnce(id);
      if (written > 0) this.logger.log(`${written} saved request log entries were written`);
      await this.remove(id);
    } catch (error) {
      if (this.stopped.signal.aborted) return;
      // The content may be intact: the process had no free descriptors, for example, or the disk did not respond.
      if (isTransientFailure(error) || isSystemError(error)) return this.reportWaiting(error);
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
   * @returns how many were written: 0 if they already were
   * @throws AbortError if the process is stopping
   */
  @Transactional()
  private async writeOnce(id: string): Promise<number> {
    let written = 0;
    if (await this.requestLog.claimFile(id))
      for await (const page of this.read(id)) {
        this.stopped.signal.throwIfAborted();
        await this.requestLog.append(await this.erased.pseudonymize(page, anonymized));
        written += page.length;
      }
    return written;
  }

  private pathOf(id: string): string {
    return join(this.folder, `${id}${EXTENSION}`);
  }

  private async usedBytes(): Promise<number> {
    let bytes = 0;
    // Files in quarantine stay until an operator removes them, and must not take the place of other entries meanwhile.
    for (const name of (await this.names()).filter((each) => !each.endsWith(REFUSED)))
      bytes += (await stat(join(this.folder, name)).catch(ignoreMissing))?.size ?? 0;
    return bytes;
  }

  private names(): Promise<string[]> {
    return namesIn(this.folder);
  }
}

/** Counts the files whose entries are missing from the log: those that wait to be written, and those in quarantine. */
export function countSavedFiles(dataDirectory: string): Promise<FileCounts> {
  return countIn(folderIn(dataDirectory));
}

type FileCounts = Readonly<Record<'waiting' | 'refused', number>>;

async function countIn(folder: string): Promise<FileCounts> {
  const names = await namesIn(folder);
  const count = (extension: string): number => names.filter((name) => name.endsWith(extension)).length;
  return { waiting: count(EXTENSION), refused: count(REFUSED) };
}

const folderIn = (dataDirectory: string): string => resolve(dataDirectory, 'request-log');

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(ignoreMissing)) ?? [];
}

/**
 * Reads the lines of a file, each with its line feed, and none if there is no file. `readline` also ends a line at U+2028, which JSON does
 * not escape.
 */
async function* linesOf(path: string): AsyncGenerator<string> {
  let parts: string[] = [];
  try {
    for await (const chunk of createReadStream(path, 'utf8'))
      for (const [index, part] of (chunk as string).split('\n').entries()) {
        if (index > 0) {
          yield `${parts.join('')}\n`;
          parts = [];
        }
        parts.push(part);
      }
  } catch (error) {
    ignoreMissing(error as NodeJS.ErrnoException);
  }
  const last = parts.join('');
  if (last !== '') yield last;
}

async function* changed(
  lines: AsyncIterable<string>,
  change: (line: string) => string,
): AsyncGenerator<string> {
  for await (const line of lines) yield change(line);
}

/** Removes a damaged line of a file that is set aside: other data in the line may be about the user. */
function anonymousLine(line: string, pseudonym: string): string {
  try {
    return `${JSON.stringify(anonymized(JSON.parse(line) as NewRequestLogEntry, pseudonym))}\n`;
  } catch {
    return '';
  }
}

/** Gives the file its name only when it is complete, because other processes may look for files at any time. */
async function writeWhole(path: string, content: string | AsyncIterable<string>): Promise<void> {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await writeFile(file, content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** Returns whether the operating system refused an operation, which says nothing about the content of a file. */
function isSystemError(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).errno !== undefined;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
