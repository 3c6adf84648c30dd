import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** A login at an identity provider, from its beginning to the response, and its outcome. */
@Entity({ name: 'sso_attempt' })
@Unique('sso_attempt_state_hash_key', ['stateHash'])
@Index('sso_attempt_finished_index', ['configurationId', 'finishedAt'])
export class SsoAttempt {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'sso_attempt_pkey' })
  id!: string;

  @ForeignKey('saml_configuration', { name: 'sso_attempt_configuration_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'configuration_id', type: 'uuid' })
  configurationId!: string;

  /** SHA-256 of the value that the response must contain. */
  @Column({ name: 'state_hash', type: 'bytea' })
  stateHash!: Buffer;

  /** SHA-256 of the cookie of the browser in which the login began. */
  @Column({ type: 'bytea' })
  browser!: Buffer;

  /** `LoginSecrets` in JSON, or what the response said if it arrived with a form. Empty after the login. */
  @Column({ name: 'secrets_sealed', type: 'bytea' })
  secretsSealed!: Buffer;

  /** The page to open after the login. */
  @Column({ type: 'text' })
  next!: string;

  /** Whether the person has to log in at the provider again. */
  @Column({ name: 'is_fresh', type: 'boolean' })
  isFresh!: boolean;

  /** The admin who tests the configuration; null for a login. */
  @ForeignKey('dashboard_user', { name: 'sso_attempt_tester_fkey', onDelete: 'CASCADE' })
  @Index('sso_attempt_tester_index', { where: 'tester_id IS NOT NULL' })
  @Column({ name: 'tester_id', type: 'uuid', nullable: true })
  testerId!: string | null;

  @Index('sso_attempt_created_at_index')
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
