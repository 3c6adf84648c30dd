import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceConfiguration } from '../config/index.js';
import { Clock, DAY, MINUTE } from '../time/index.js';
import { MessageFiles } from './message-files.js';

describe('MessageFiles', () => {
  const directory = mkdtempSync(join(tmpdir(), 'message-files-'));
  const dataDirectory = join(directory, 'data');
  const clock = new Clock();
  const files = new MessageFiles(Object.assign(new ServiceConfiguration(), { dataDirectory }), clock);

  const write = async (folder: 'mail' | 'messages', age: number): Promise<string> => {
    const file = await files.write(folder, 'content');
    const time = new Date(clock.milliseconds() - age);
    utimesSync(file, time, time);
    return file;
  };

  afterAll(() => rmSync(directory, { recursive: true }));

  it('creates a data directory, folders and files that only the user of the process can read', async () => {
    const file = await files.write('messages', 'content');
    const modes = [dataDirectory, join(dataDirectory, 'messages'), file].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o600]);
    rmSync(file);
  });

  it('deletes messages and emails a day after they were written', async () => {
    const kept = [await write('mail', DAY - MINUTE), await write('messages', 0)];
    await write('mail', DAY + MINUTE);
    await write('messages', 30 * DAY);
    await files.deleteOld();
    const left = ['mail', 'messages'].flatMap((folder) =>
      readdirSync(join(dataDirectory, folder)).map((name) => join(dataDirectory, folder, name)),
    );
    expect(left).toEqual(kept);
  });

  it('needs no folder until a message is written', async () => {
    rmSync(dataDirectory, { recursive: true });
    await files.deleteOld();
    expect(readdirSync(directory)).toEqual([]);
  });
});
