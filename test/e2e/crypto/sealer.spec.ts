import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.js';
import { dataSourceOptions } from '../../../src/infrastructure/database/data-source-options.js';
import type { Transaction } from '../../../src/infrastructure/database/index.js';
import { CryptoConfiguration } from '../../../src/infrastructure/crypto/crypto.configuration.js';
import { KeyRepository } from '../../../src/infrastructure/crypto/key.repository.js';
import { KeyMismatchError, KeyWrapper, Sealer } from '../../../src/infrastructure/crypto/sealer.js';
import { SecretDigest } from '../../../src/infrastructure/crypto/secret-digest.js';

const OWNER = ['api_secret', 'client', '1'];
const key = (): string => randomBytes(32).toString('base64');

describe('Sealer', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let keys: CryptoConfiguration;
  let sealer: Sealer;

  beforeAll(async () => {
    database = await cloneDatabase();
    dataSource = await new DataSource(dataSourceOptions({ url: database.url, poolSize: 10 })).initialize();
    keys = Object.assign(new CryptoConfiguration(), { secretPepper: key(), keyEncryptionKey: key() });
    sealer = sealerWith(keys);
    await sealer.unlock();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const sealerWith = (keyring: Partial<CryptoConfiguration>): Sealer => {
    const configuration = Object.assign(new CryptoConfiguration(), keyring);
    return new Sealer(
      new KeyRepository(dataSource as Pick<Transaction, 'manager'> as Transaction),
      new KeyWrapper(configuration),
      new SecretDigest(configuration),
    );
  };

  it.each([
    ['an API secret', 'mcs_dev_secret'],
    ['an empty text', ''],
    ['an emoji and a null character', 'é😀\u0000'],
    ['a long text', 'x'.repeat(100_000)],
  ])('decrypts %s', (_name, text) => {
    const sealed = sealer.seal(text, OWNER);
    expect(sealer.open(sealed, OWNER)).toBe(text);
    if (text !== '') expect(sealed.includes(text)).toBe(false);
  });

  it('encrypts the same text differently each time', () => {
    expect(sealer.seal('text', OWNER).equals(sealer.seal('text', OWNER))).toBe(false);
  });

  it('decrypts only for the owner', () => {
    const sealed = sealer.seal('text', ['ab', 'c']);
    for (const other of [['a', 'bc'], ['abc'], ['ab', 'c', ''], ['ab'], [], ['c', 'ab'], ['AB', 'c']]) {
      expect(() => sealer.open(sealed, other)).toThrow();
    }
  });

  it('does not decrypt if any byte was altered', () => {
    const sealed = sealer.seal('text', OWNER);
    for (let index = 0; index < sealed.length; index += 1) {
      const altered = Buffer.from(sealed);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      expect(() => sealer.open(altered, OWNER)).toThrow();
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => sealer.open(sealed.subarray(0, length), OWNER)).toThrow();
    }
  });

  it('decrypts after a restart with the same keys', async () => {
    const sealed = sealer.seal('text', OWNER);
    const restarted = sealerWith(keys);
    await restarted.unlock();
    expect(restarted.open(sealed, OWNER)).toBe('text');
  });

  it('refuses to start with another key-encryption key', async () => {
    const other = sealerWith({ ...keys, keyEncryptionKey: key() });
    const unlocking = other.unlock();
    await expect(unlocking).rejects.toThrow(KeyMismatchError);
    await expect(unlocking).rejects.toThrow(/^KEY_ENCRYPTION_KEY is not the key that this database uses\./);
    expect(() => other.seal('text', OWNER)).toThrow();
  });

  it('changes the key-encryption key while processes with the old and the new one run', async () => {
    const sealed = sealer.seal('text', OWNER);
    const next = { ...keys, keyEncryptionKey: key(), previousKeyEncryptionKey: keys.keyEncryptionKey };
    const changing = sealerWith(next);
    await changing.unlock();
    await sealerWith(keys).unlock();
    expect(await changing.rewrapDataKeys()).toBe(1);
    expect([changing, sealer].map((each) => each.open(sealed, OWNER))).toEqual(['text', 'text']);

    await expect(sealerWith(keys).unlock()).rejects.toThrow(KeyMismatchError);
    await changing.unlock();
    const changed = sealerWith({ ...next, previousKeyEncryptionKey: undefined });
    await changed.unlock();
    expect(changed.open(sealed, OWNER)).toBe('text');

    // Changed back for the following tests.
    const restored = sealerWith({ ...keys, previousKeyEncryptionKey: next.keyEncryptionKey });
    await restored.unlock();
    await restored.rewrapDataKeys();
    await sealer.unlock();
  });

  it('refuses to start with another pepper', async () => {
    const unlocking = sealerWith({ ...keys, secretPepper: key() }).unlock();
    await expect(unlocking).rejects.toThrow(/^SECRET_PEPPER is not the key that this database uses\./);
  });

  it('stores no key in plain text', async () => {
    const rows = await database.query<{ wrapped: Buffer }>('SELECT wrapped FROM data_key');
    const checks = await database.query<{ value: Buffer }>('SELECT value FROM key_check');
    expect(rows).toHaveLength(1);
    for (const bytes of [...rows.map(({ wrapped }) => wrapped), ...checks.map(({ value }) => value)]) {
      for (const secret of [keys.secretPepper, keys.keyEncryptionKey]) {
        expect(bytes.includes(Buffer.from(secret ?? '', 'base64'))).toBe(false);
      }
    }
  });

  it('creates one data key if 20 processes start on an empty database', async () => {
    await database.query('TRUNCATE data_key, key_check');
    const sealers = Array.from({ length: 20 }, () => sealerWith(keys));
    await Promise.all(sealers.map((each) => each.unlock()));
    expect(await database.query('SELECT count(*)::int FROM data_key')).toEqual([{ count: 1 }]);
    const sealed = sealers[0]?.seal('text', OWNER) ?? Buffer.alloc(0);
    expect(sealers.map((each) => each.open(sealed, OWNER))).toEqual(Array(20).fill('text'));
  });
});
