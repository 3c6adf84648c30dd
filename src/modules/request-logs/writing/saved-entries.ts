import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import type { NewRequestLogEntry } from '../storage/request-log-entry.js';

/** Maximum number of bytes of all files together. */
const MAX_BYTES = 64 * 1024 * 1024;
const EXTENSION = '.ndjson';
const DRAFT = '.draft';
const REFUSED = '.refused';

/**
 * Keeps entries in `DATA_DIR/request-log` that a process could not write before it ended. Each file has an entry per line, and
 * its name is the ID by which the database recognizes that the file has been written.
 */
@Injectable()
export class SavedEntries {
  private readonly folder: string;

  constructor({ dataDirectory }: ServiceConfiguration) {
    this.folder = resolve(dataDirectory, 'request-log');
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
    if (lines.length > 0) await this.write(lines.toReversed().join(''));
    return entries.length - lines.length;
  }

  /** Returns the IDs of the files. */
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
  async setAside(id: string): Promise<string> {
    const path = `${this.pathOf(id)}${REFUSED}`;
    await rename(this.pathOf(id), path).catch(ignoreMissing);
    return path;
  }

  private pathOf(id: string): string {
    return join(this.folder, `${id}${EXTENSION}`);
  }

  /** Gives the file its name only when it is complete, because other processes may look for files at any time. */
  private async write(content: string): Promise<void> {
    const path = this.pathOf(randomUUID());
    const draft = `${path}${DRAFT}`;
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
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

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
