import { Column, Entity, IsNull, Not } from 'typeorm';
import { DatedRow, DueSince } from '../../infrastructure/database/index.js';
import { DAY, HOUR } from '../../infrastructure/time/index.js';

export type SsoProtocol = 'saml' | 'openid';

/** The identity provider of an organization. Columns that the protocol does not use are empty. */
@Entity({ name: 'saml_configuration' })
export class SsoConfiguration extends DatedRow {
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @Column({ type: 'varchar', length: 6, default: 'saml' })
  protocol!: SsoProtocol;

  @Column({ type: 'varchar', length: 256 })
  name!: string;

  /** SAML: the metadata as it was sent. The following columns are read from it. */
  @Column({ name: 'metadata_xml', type: 'text' })
  metadataXml!: string;

  /** The identifier of the provider: the `entityID` of SAML, or the issuer of OpenID Connect. */
  @Column({ name: 'entity_id', type: 'text' })
  entityId!: string;

  @Column({ name: 'sso_url', type: 'text' })
  ssoUrl!: string;

  @Column({ name: 'sso_binding', type: 'text' })
  ssoBinding!: string;

  /** Signing certificates, DER in base64. */
  @Column({ type: 'text', array: true })
  certificates!: string[];

  /** Where the metadata is fetched again every day; null if it was pasted. */
  @Column({ name: 'metadata_url', type: 'text', nullable: true })
  metadataUrl!: string | null;

  @DueSince<SsoConfiguration>(
    'metadata_checks',
    { enabledAt: Not(IsNull()), metadataUrl: Not(IsNull()) },
    DAY + HOUR,
  )
  @Column({ name: 'metadata_checked_at', type: 'timestamptz', precision: 3, nullable: true })
  metadataCheckedAt!: Date | null;

  /** When the metadata was last asked for, whether or not it could be used. */
  @Column({ name: 'metadata_attempted_at', type: 'timestamptz', precision: 3, nullable: true, select: false })
  metadataAttemptedAt?: Date | null;

  /** When the owners were last notified that a certificate expires. */
  @Column({ name: 'expiry_notified_at', type: 'timestamptz', precision: 3, nullable: true })
  expiryNotifiedAt!: Date | null;

  @Column({ name: 'client_id', type: 'text', nullable: true })
  clientId!: string | null;

  /** The client secret of OpenID Connect. */
  @Column({ name: 'client_secret_sealed', type: 'bytea', nullable: true })
  clientSecretSealed!: Buffer | null;

  /** When a test login succeeded. Null after a change that the test does not cover, which increases the revision. */
  @Column({ name: 'tested_at', type: 'timestamptz', precision: 3, nullable: true })
  testedAt!: Date | null;

  @Column({ type: 'integer', default: 0 })
  revision!: number;

  /** Why the last test login does not prove that the person logged in just now; null if it does. */
  @Column({ name: 'staleness', type: 'text', nullable: true })
  recencyProblem!: string | null;

  /** Whether an owner enabled it, and nobody else changed whom it trusts afterwards. Owners log in only through such a provider. */
  @Column({ name: 'is_owner_approved', type: 'boolean', default: false })
  isOwnerApproved!: boolean;

  @Column({ name: 'enabled_at', type: 'timestamptz', precision: 3, nullable: true })
  enabledAt!: Date | null;
}
