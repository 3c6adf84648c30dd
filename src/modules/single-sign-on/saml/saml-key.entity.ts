import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../../infrastructure/database/index.js';

/** A key pair of ours for one configuration: signs requests, and decrypts assertions. There are two during a rollover. */
@Entity({ name: 'saml_key' })
export class SamlKey extends DatedRow {
  @Column({ name: 'configuration_id', type: 'uuid' })
  configurationId!: string;

  /** DER in base64. */
  @Column({ type: 'text' })
  certificate!: string;

  /** PKCS #8, DER in base64. */
  @Column({ name: 'private_key_sealed', type: 'bytea' })
  privateKeySealed!: Buffer;
}
