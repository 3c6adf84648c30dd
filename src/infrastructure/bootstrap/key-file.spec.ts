import { linkSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOrCreateKey } from './key-file.js';

describe('readOrCreateKey', () => {
  it('creates a data directory and a key that only the user of the process can read', () => {
    const directory = mkdtempSync(join(tmpdir(), 'key-file-'));
    try {
      const [data, file] = [join(directory, 'data'), join(directory, 'data', 'key')];
      const key = readOrCreateKey(file);
      expect(readOrCreateKey(file)).toBe(key);
      expect([data, file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('creates one key if a process of another container, with the same ID, creates it at the same time', () => {
    const directory = mkdtempSync(join(tmpdir(), 'key-file-'));
    const keys: string[] = [];
    const linkFirst = (draft: string, file: string): void => {
      linkSync(draft, file);
      keys.push(readOrCreateKey(file));
    };
    try {
      const file = join(directory, 'key');
      keys.push(readOrCreateKey(file, linkFirst as typeof linkSync), readOrCreateKey(file));
      expect(new Set(keys).size).toBe(1);
      expect(readdirSync(directory)).toEqual(['key']);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('creates a key on a file system without links', () => {
    const directory = mkdtempSync(join(tmpdir(), 'key-file-'));
    const refuse = (): never => {
      throw Object.assign(new Error('operation not permitted, link'), { code: 'EPERM' });
    };
    try {
      const file = join(directory, 'key');
      const key = readOrCreateKey(file, refuse);
      expect(Buffer.from(key, 'base64')).toHaveLength(32);
      expect(readOrCreateKey(file, refuse)).toBe(key);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readdirSync(directory)).toEqual(['key']);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
