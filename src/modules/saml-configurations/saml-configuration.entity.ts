import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity({ name: 'saml_configuration' })
@Index('saml_configuration_enabled_key', ['organizationId'], {
  unique: true,
  where: 'enabled_at IS NOT NULL',
})
export class SamlConfiguration {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'saml_configuration_pkey' })
  id!: string;

  @ForeignKey('organization', { name: 'saml_configuration_organization_fkey' })
  @Index('saml_configuration_organization_index')
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @Column({ type: 'varchar', length: 256 })
  name!: string;

  /** The metadata as it was sent. The following columns are read from it. */
  @Column({ name: 'metadata_xml', type: 'text' })
  metadataXml!: string;

  @Column({ name: 'entity_id', type: 'text' })
  entityId!: string;

  @Column({ name: 'sso_url', type: 'text' })
  ssoUrl!: string;

  @Column({ name: 'sso_binding', type: 'text' })
  ssoBinding!: string;

  /** Signing certificates, DER in base64. */
  @Column({ type: 'text', array: true })
  certificates!: string[];

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'enabled_at', type: 'timestamptz', precision: 3, nullable: true })
  enabledAt!: Date | null;
}
