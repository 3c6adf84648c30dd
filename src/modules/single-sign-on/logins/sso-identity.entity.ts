import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Links a user to an account at an identity provider, which is never identified by its address. */
@Entity({ name: 'sso_identity' })
export class SsoIdentity {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @PrimaryColumn({ type: 'text' })
  issuer!: string;

  @PrimaryColumn({ type: 'varchar', length: 255 })
  subject!: string;

  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Column({ name: 'linked_at', type: 'timestamptz', precision: 3 })
  linkedAt!: Date;
}
