import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Scope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/**
 * `pending` until somebody approves or denies it in the dashboard; `redeemed` once the device has its token.
 * That its time is over is told by `expiresAt` alone.
 */
export type DeviceAuthorizationStatus = 'pending' | 'approved' | 'denied' | 'redeemed';

/** A device that asks to be let in (RFC 8628). Neither of its codes is kept in clear. */
@Entity({ name: 'device_authorization' })
@Unique('device_authorization_device_code_hash_key', ['deviceCodeHash'])
@Check('device_authorization_status_check', `status IN ('pending', 'approved', 'denied', 'redeemed')`)
export class DeviceAuthorization {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'device_authorization_pkey' })
  id!: string;

  @ForeignKey('api_client', { name: 'device_authorization_client_fkey' })
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @ForeignKey('organization', { name: 'device_authorization_organization_fkey' })
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @Column({ type: 'varchar', length: 11 })
  environment!: PlatformEnvironment;

  /** SHA-256: the code has 256 random bits. */
  @Column({ name: 'device_code_hash', type: 'bytea' })
  deviceCodeHash!: Buffer;

  /** Under the pepper: a code that people can type is soon found from a plain hash. */
  @Index('device_authorization_user_code_key', { unique: true, where: "status = 'pending'" })
  @Column({ name: 'user_code_digest', type: 'bytea' })
  userCodeDigest!: Buffer;

  /** For the page that shows it once more beside what it is good for. */
  @Column({ name: 'user_code_sealed', type: 'bytea' })
  userCodeSealed!: Buffer;

  @Column({ type: 'text', array: true })
  scopes!: Scope[];

  @Column({ type: 'varchar', length: 8 })
  status!: DeviceAuthorizationStatus;

  /** What the device was told to wait between two polls. */
  @Column({ name: 'interval_seconds', type: 'integer' })
  intervalSeconds!: number;

  @Column({ name: 'requested_at', type: 'timestamptz', precision: 3 })
  requestedAt!: Date;

  /** An expired request is kept for another day, so that a device that polls late learns that its code has expired. */
  @Index('device_authorization_expires_at_index')
  @DeleteAfter(DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  /** Of the device. */
  @Column({ type: 'text' })
  ip!: string;

  @Column({ name: 'user_agent', type: 'text' })
  userAgent!: string;

  /** Who decided; null before, and once that user is gone. */
  @ForeignKey('dashboard_user', { name: 'device_authorization_user_fkey', onDelete: 'SET NULL' })
  @Index('device_authorization_user_index')
  @Column({ name: 'user_id', type: 'uuid', nullable: true })
  userId!: string | null;

  @Column({ name: 'decided_at', type: 'timestamptz', precision: 3, nullable: true })
  decidedAt!: Date | null;
}
