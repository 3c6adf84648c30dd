import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { OperatorError } from '../errors/index.js';
import { CryptoConfiguration } from './crypto.configuration.js';
import { KeyRepository, type WrappedDataKey } from './key.repository.js';
import { SecretDigest } from './secret-digest.js';

const ALGORITHM = 'aes-256-gcm';
/** NIST SP 800-38D recommends 96 bits. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts with AES-256-GCM. @returns nonce, ciphertext and tag in one buffer */
function encrypt(key: Buffer, plaintext: Buffer, additionalData: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(additionalData);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** @throws Error if the key, the bytes or the additional data differ from those of the encryption */
function decrypt(key: Buffer, sealed: Buffer, additionalData: Buffer): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const ciphertext = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(additionalData)
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
}

const PURPOSE = Buffer.from('data-key');

/**
 * Encrypts data keys with a key-encryption key, which the configuration contains. The methods are asynchronous so that a cloud KMS
 * can hold the key instead.
 */
@Injectable()
export class KeyWrapper {
  private readonly key: Buffer;
  /** While the key-encryption key is being changed, some data keys are encrypted with the previous one. */
  private readonly previous: Buffer | undefined;

  constructor({ keyEncryptionKey = '', previousKeyEncryptionKey }: CryptoConfiguration) {
    this.key = Buffer.from(keyEncryptionKey, 'base64');
    this.previous = previousKeyEncryptionKey ? Buffer.from(previousKeyEncryptionKey, 'base64') : undefined;
  }

  async wrap(dataKey: Buffer): Promise<Buffer> {
    return encrypt(this.key, dataKey, PURPOSE);
  }

  /** Rejects if the data key was encrypted with another key-encryption key. */
  async unwrap(wrapped: Buffer): Promise<Buffer> {
    try {
      return decrypt(this.key, wrapped, PURPOSE);
    } catch (error) {
      if (!this.previous) throw error;
      return decrypt(this.previous, wrapped, PURPOSE);
    }
  }
}

/** The configured keys differ from those that the database uses. */
export class KeyMismatchError extends OperatorError {
  constructor(variable: string) {
    super(
      `${variable} is not the key that this database uses. ` +
        'Start with that key (outside production it is in the data directory), or with an empty database.',
    );
  }
}

const DATA_KEY_BYTES = 32;
/** The header of a sealed value contains the ID of its data key. */
const HEADER_BYTES = 2;

/**
 * Encrypts small values (API secrets, personal data) with AES-256-GCM. The data keys are themselves encrypted by the
 * key-encryption key (envelope encryption). The owner of a value is authenticated together with the value, so a
 * ciphertext that is copied to another row cannot be decrypted there.
 */
@Injectable()
export class Sealer {
  private readonly dataKeys = new Map<number, Buffer>();
  private currentId = 0;

  constructor(
    private readonly keys: KeyRepository,
    private readonly wrapper: KeyWrapper,
    private readonly digest: SecretDigest,
  ) {}

  /**
   * Loads the data keys, and creates the first one in an empty database.
   *
   * @throws KeyMismatchError if the configured keys differ from those of the database
   */
  async unlock(): Promise<void> {
    await this.checkPepper();
    let wrappedKeys = await this.keys.dataKeys();
    if (wrappedKeys.length === 0) {
      await this.keys.addFirstDataKey(await this.wrapper.wrap(randomBytes(DATA_KEY_BYTES)));
      wrappedKeys = await this.keys.dataKeys();
    }
    for (const wrappedKey of wrappedKeys) {
      this.dataKeys.set(wrappedKey.id, await this.unwrap(wrappedKey));
      this.currentId = wrappedKey.id;
    }
  }

  /**
   * Encrypts the data keys with the current key-encryption key. After that, PREVIOUS_KEY_ENCRYPTION_KEY can be removed.
   * The values that the data keys encrypt do not change.
   *
   * @returns the number of data keys
   */
  async rewrapDataKeys(): Promise<number> {
    for (const [id, dataKey] of this.dataKeys) await this.keys.replace(id, await this.wrapper.wrap(dataKey));
    return this.dataKeys.size;
  }

  /** @param owner identifies the owner of the value, most general part first: for example table, row ID, version */
  seal(plaintext: string, owner: readonly string[]): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt16BE(this.currentId);
    const key = this.dataKey(this.currentId);
    return Buffer.concat([header, encrypt(key, Buffer.from(plaintext, 'utf8'), additionalData(owner))]);
  }

  /** @throws Error if the value was encrypted for another owner, or altered */
  open(sealed: Buffer, owner: readonly string[]): string {
    const key = this.dataKey(sealed.readUInt16BE());
    return decrypt(key, sealed.subarray(HEADER_BYTES), additionalData(owner)).toString('utf8');
  }

  /** Like `seal()`, for a value that may be missing: in the database, null. */
  sealOptional(plaintext: string | undefined, owner: readonly string[]): Buffer | null {
    return plaintext === undefined ? null : this.seal(plaintext, owner);
  }

  /** Like `open()`, for a value that may be missing. */
  openOptional(sealed: Buffer | null, owner: readonly string[]): string | undefined {
    return sealed === null ? undefined : this.open(sealed, owner);
  }

  private dataKey(id: number): Buffer {
    const key = this.dataKeys.get(id);
    if (!key) throw new Error(`There is no data key ${id}`);
    return key;
  }

  private async checkPepper(): Promise<void> {
    const value = this.digest.of('check value');
    const stored = await this.keys.storeCheckValue('secret_pepper', value);
    if (!SecretDigest.equal(stored, value)) throw new KeyMismatchError('SECRET_PEPPER');
  }

  private async unwrap(wrappedKey: WrappedDataKey): Promise<Buffer> {
    try {
      return await this.wrapper.unwrap(wrappedKey.wrapped);
    } catch {
      throw new KeyMismatchError('KEY_ENCRYPTION_KEY');
    }
  }
}

/** JSON keeps the parts distinct: ["ab","c"] and ["a","bc"] differ. */
function additionalData(owner: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(owner), 'utf8');
}
