import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDataDirectory, dataDirectoryProblem } from './check-data-directory.js';

describe('checkDataDirectory', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'data-directory-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('creates the directory for its user alone, and leaves nothing in it', async () => {
    const directory = join(folder, 'new', 'data');
    expect(await checkDataDirectory(directory)).toBeUndefined();
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(await readdir(directory)).toEqual([]);
  });

  it('explains why the directory cannot be created or written to', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    for (const directory of [file, join(file, 'data'), '/proc/data'])
      expect(await checkDataDirectory(directory)).toEqual({
        isSpace: false,
        isUsable: false,
        finding: expect.stringMatching(
          new RegExp(`^DATA_DIR=${directory} cannot be used \\((?:ENOTDIR|EEXIST|ENOENT): .*\\)\\.$`),
        ),
        remedy: 'Set DATA_DIR to a directory that this user can create and write to.',
      });
    expect(existsSync('/proc/data')).toBe(false);
  });

  it('recognizes a full disk', async () => {
    // Every write to this device fails as on a full disk.
    const error: unknown = await writeFile('/dev/full', 'x').catch((failure: unknown) => failure);
    expect(dataDirectoryProblem(error, '/data')).toEqual({
      isSpace: true,
      isUsable: false,
      finding: 'DATA_DIR=/data has no free space.',
      remedy: 'Free some space, or set DATA_DIR to a directory on another disk.',
    });
  });
});
