import { randomBytes, randomUUID, webcrypto } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { SamlKey } from './saml-key.entity.js';

/** Milliseconds; about three years. */
const LIFETIME = 1_095 * DAY;
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2_048,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const MAX_KEYS = 2;

/** A key pair that can be used. */
export interface OwnKey {
  /** DER in base64. */
  readonly certificate: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
}

/** The key pairs with which the service signs its requests to a provider, and decrypts assertions. */
@Injectable()
export class SamlKeysService {
  constructor(
    private readonly transaction: Transaction,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Returns the key pairs of a configuration, oldest first: the first one signs. Creates one if there is none. */
  async keysOf(configurationId: string): Promise<OwnKey[]> {
    const found = await this.list(configurationId);
    if (found.length > 0) return found.map((key) => this.opened(key));
    await this.add(configurationId, 1);
    return this.keysOf(configurationId);
  }

  /** Returns the certificates, DER in base64, oldest first. Creates none. */
  async certificatesOf(configurationId: string): Promise<string[]> {
    return (await this.list(configurationId)).map(({ certificate }) => certificate);
  }

  /** Begins a rollover: the metadata contains both certificates. @throws ApiError INVALID_FIELD during one */
  async beginRollover(configurationId: string): Promise<void> {
    if (!(await this.add(configurationId, MAX_KEYS)))
      throw INVALID_FIELD.error('There are two certificates already: remove the older one first.');
  }

  /** Ends a rollover: the newer key pair stays. Changes nothing if there is only one. */
  @Transactional()
  async endRollover(configurationId: string): Promise<void> {
    await this.lock(configurationId);
    const [oldest, ...newer] = await this.list(configurationId);
    if (oldest && newer.length > 0) await this.transaction.manager.delete(SamlKey, { id: oldest.id });
  }

  /** @returns false if the configuration has so many key pairs already */
  private async add(configurationId: string, limit: number): Promise<boolean> {
    return this.store(await this.create(configurationId), limit);
  }

  @Transactional()
  private async store(key: SamlKey, limit: number): Promise<boolean> {
    await this.lock(key.configurationId);
    const { configurationId } = key;
    if ((await this.transaction.manager.countBy(SamlKey, { configurationId })) >= limit) return false;
    await this.transaction.manager.insert(SamlKey, key);
    return true;
  }

  private lock(configurationId: string): Promise<void> {
    return this.transaction.lock(`saml-keys:${configurationId}`);
  }

  private list(configurationId: string): Promise<SamlKey[]> {
    const order = { createdAt: 'ASC', id: 'ASC' } as const;
    return this.transaction.manager.find(SamlKey, { where: { configurationId }, order });
  }

  private async create(configurationId: string): Promise<SamlKey> {
    // Loading the library takes time and memory, which processes without SAML save.
    const { X509CertificateGenerator } = await import('@peculiar/x509');
    const keys = await webcrypto.subtle.generateKey(RSA, true, ['sign', 'verify']);
    const privateKey = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
    const now = this.clock.milliseconds();
    const certificate = await X509CertificateGenerator.createSelfSigned(
      {
        name: 'CN=Merchant Connectivity Service',
        serialNumber: `01${randomBytes(15).toString('hex')}`,
        notBefore: new Date(now - DAY),
        notAfter: new Date(now + LIFETIME),
        signingAlgorithm: RSA,
        keys,
      },
      webcrypto as Crypto,
    );
    const id = randomUUID();
    return {
      id,
      configurationId,
      certificate: Buffer.from(certificate.rawData).toString('base64'),
      privateKeySealed: this.sealer.seal(privateKey.toString('base64'), ownerOfKey(id)),
      createdAt: this.clock.now(),
    };
  }

  private opened({ id, certificate, privateKeySealed }: SamlKey): OwnKey {
    const encoded = this.sealer.open(privateKeySealed, ownerOfKey(id));
    const privateKey = `-----BEGIN PRIVATE KEY-----\n${encoded}\n-----END PRIVATE KEY-----\n`;
    return { certificate, privateKey };
  }
}

function ownerOfKey(id: string): string[] {
  return ['saml_key', id, 'private_key'];
}
