import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ServiceConfiguration } from '../config/index.js';
import { Clock, DAY, HOUR } from '../time/index.js';

/** The folders of the data directory, and the extensions of their files. */
const FOLDERS = { mail: 'eml', messages: 'txt' } as const;
type Folder = keyof typeof FOLDERS;

const KEPT_FOR = DAY;

/**
 * Writes emails and text messages to files instead of sending them, for installations without a provider. Every process
 * deletes old files, not only those with background work, because replicas may have disks of their own.
 */
@Injectable()
export class MessageFiles implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Message files');
  private readonly directory: string;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    { dataDirectory }: ServiceConfiguration,
    private readonly clock: Clock,
  ) {
    this.directory = resolve(dataDirectory);
  }

  /** @returns the path of the new file */
  async write(folder: Folder, content: string): Promise<string> {
    await mkdir(join(this.directory, folder), { recursive: true, mode: 0o700 });
    const file = join(this.directory, folder, `${randomUUID()}.${FOLDERS[folder]}`);
    // The message may contain a link that is as good as a password.
    await writeFile(file, content, { mode: 0o600 });
    return file;
  }

  onApplicationBootstrap(): void {
    const run = (): void => {
      this.deleteOld().catch((error: unknown) =>
        this.logger.error('Old message files were not deleted', error),
      );
    };
    run();
    this.timer = setInterval(run, HOUR).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  async deleteOld(): Promise<void> {
    const before = this.clock.milliseconds() - KEPT_FOR;
    for (const [folder, extension] of Object.entries(FOLDERS)) {
      for (const name of await namesIn(join(this.directory, folder))) {
        const file = join(this.directory, folder, name);
        // Another process may have deleted the file meanwhile.
        const written = name.endsWith(`.${extension}`) && (await stat(file).catch(() => undefined));
        if (written && written.mtimeMs < before) await rm(file, { force: true });
      }
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
