import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A key pair of ours for one configuration: signs requests, and decrypts assertions. There are two during a rollover. */
@Entity({ name: 'saml_key' })
export class SamlKey {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ name: 'configuration_id', type: 'uuid' })
  configurationId!: string;

  /** DER in base64. */
  @Column({ type: 'text' })
  certificate!: string;

  /** PKCS #8, DER in base64. */
  @Column({ name: 'private_key_sealed', type: 'bytea' })
  privateKeySealed!: Buffer;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
