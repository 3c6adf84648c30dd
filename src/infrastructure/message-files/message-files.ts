import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Writes messages to files instead of sending them, for installations without a provider. */
export class MessageFiles {
  private readonly directory: string;

  constructor(
    dataDirectory: string,
    folder: string,
    private readonly extension: string,
  ) {
    this.directory = resolve(dataDirectory, folder);
  }

  /** @returns the path of the new file */
  async write(content: string): Promise<string> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const file = join(this.directory, `${randomUUID()}.${this.extension}`);
    // The message may contain a link that is as good as a password.
    await writeFile(file, content, { mode: 0o600 });
    return file;
  }
}
