import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter, StoredRow } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

/** A login at an identity provider, from its beginning to the response, and its outcome. */
@Entity({ name: 'sso_attempt' })
export class SsoAttempt extends StoredRow {
  @Column({ name: 'configuration_id', type: 'uuid' })
  configurationId!: string;

  /** The revision of the configuration when the login began. */
  @Column({ name: 'configuration_revision', type: 'integer', default: 0 })
  configurationRevision!: number;

  /** SHA-256 of the value that the response must contain. */
  @Column({ name: 'state_hash', type: 'bytea' })
  stateHash!: Buffer;

  /** SHA-256 of the cookie of the browser in which the login began. */
  @Column({ type: 'bytea' })
  browser!: Buffer;

  /** `LoginSecrets` in JSON, or what the response said if it arrived with a form. Empty after the login. */
  @Column({ name: 'secrets_sealed', type: 'bytea' })
  secretsSealed!: Buffer;

  /** The page to open after the login. Empty after it. */
  @Column({ type: 'text' })
  next!: string;

  /** Whether the person has to log in at the provider again. */
  @Column({ name: 'is_fresh', type: 'boolean' })
  forceLogin!: boolean;

  /** The admin who tests the configuration; null for a login. */
  @Column({ name: 'tester_id', type: 'uuid', nullable: true })
  testerId!: string | null;

  @DeleteAfter(30 * DAY)
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** When a response arrived with a form, after which no other is accepted. */
  @Column({ name: 'received_at', type: 'timestamptz', precision: 3, nullable: true })
  receivedAt!: Date | null;

  /** When a response was taken for checking, or the login failed before. No other response is accepted after this. */
  @Column({ name: 'finished_at', type: 'timestamptz', precision: 3, nullable: true })
  finishedAt!: Date | null;

  @Column({ type: 'varchar', length: 254, nullable: true })
  email!: string | null;

  /** Why the login failed, in words; null if it succeeded. */
  @Column({ type: 'text', nullable: true })
  problem!: string | null;
}

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

  /** Whether an owner had approved the provider that the account was linked through. Otherwise it may be another one with its name. */
  @Column({ name: 'is_owner_approved', type: 'boolean', default: true })
  isOwnerApproved!: boolean;
}
