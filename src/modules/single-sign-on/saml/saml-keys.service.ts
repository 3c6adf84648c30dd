import { randomBytes, randomUUID, webcrypto } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional, type Check } from '../../../infrastructure/database/index.js';
import { KeyedQueue } from '../../../infrastructure/queues/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { lazyModule } from '../../../infrastructure/lazy-values/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { SsoConfiguration } from '../sso-configuration.entity.js';
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

/** Loading the library takes time and memory, which processes without SAML save. */
const x509 = lazyModule<typeof import('@peculiar/x509')>('@peculiar/x509', import.meta.url);

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
  /** Creating a key pair takes up to a second of a processor: concurrent first logins must not create one each. */
  private readonly creations = new KeyedQueue(1);

  constructor(
    private readonly transaction: Transaction,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Returns the key pairs of a configuration, oldest first: the first one signs. Creates one if there is none. */
  async keysOf(configurationId: string): Promise<OwnKey[]> {
    const found = await this.list(configurationId);
    const keys = found.length > 0 ? found : await this.created(configurationId);
    return keys.map((key) => this.opened(key));
  }

  private created(configurationId: string): Promise<SamlKey[]> {
    return this.creations.run(configurationId, async () => {
      const found = await this.list(configurationId);
      if (found.length > 0) return found;
      await this.store(await this.create(configurationId), 1);
      return this.list(configurationId);
    });
  }

  /** Returns the certificates, DER in base64, oldest first. Creates none. */
  async certificatesOf(configurationId: string): Promise<string[]> {
    return (await this.list(configurationId)).map(({ certificate }) => certificate);
  }

  /** Returns the certificates of each of the configurations, in no order. */
  async certificatesOfAll(configurationIds: readonly string[]): Promise<Map<string, string[]>> {
    const keys = await this.transaction.manager.find(SamlKey, {
      select: { configurationId: true, certificate: true },
      where: { configurationId: In(configurationIds) },
    });
    const certificates = new Map<string, string[]>();
    for (const { configurationId, certificate } of keys)
      certificates.set(configurationId, [...(certificates.get(configurationId) ?? []), certificate]);
    return certificates;
  }

  /** Begins a rollover with a new key pair: the metadata contains both certificates. @throws ApiError INVALID_FIELD during one */
  async beginRollover(key: SamlKey): Promise<void> {
    if (!(await this.store(key, MAX_KEYS)))
      throw INVALID_FIELD.error('There are two certificates already: remove the older one first.');
  }

  /** Ends a rollover: the newer key pair stays. @returns whether there was an older one */
  @Transactional()
  async endRollover(configurationId: string, check?: Check<readonly string[]>): Promise<boolean> {
    await this.lock(configurationId);
    const keys = await this.list(configurationId);
    check?.(keys.map(({ certificate }) => certificate));
    const [oldest, ...newer] = keys;
    return oldest !== undefined && newer.length > 0 && this.transaction.deleteRow(SamlKey, { id: oldest.id });
  }

  /** @returns false if the configuration has so many key pairs already */
  @Transactional()
  private async store(key: SamlKey, limit: number): Promise<boolean> {
    await this.lock(key.configurationId);
    const { configurationId } = key;
    if ((await this.transaction.manager.countBy(SamlKey, { configurationId })) >= limit) return false;
    await this.transaction.manager.insert(SamlKey, key);
    return true;
  }

  /** The configuration comes first, because a transaction that changes it has locked it already. */
  private async lock(configurationId: string): Promise<void> {
    await this.transaction.lockRow(SsoConfiguration, { id: configurationId });
    await this.transaction.lock(`saml-keys:${configurationId}`);
  }

  private list(configurationId: string): Promise<SamlKey[]> {
    const order = { createdAt: 'ASC', id: 'ASC' } as const;
    return this.transaction.manager.find(SamlKey, { where: { configurationId }, order });
  }

  /** Returns a new key pair, which is not stored yet: creating it takes too long for a transaction. */
  async create(configurationId: string): Promise<SamlKey> {
    const { X509CertificateGenerator } = x509();
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
