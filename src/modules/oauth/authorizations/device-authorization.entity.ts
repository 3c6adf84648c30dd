import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Scope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { DeleteAfter, StoredRow } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/**
 * `pending` until a user approves or denies the request; `redeemed` once the device has its token. Expiry is not a
 * status: `expiresAt` decides.
 */
export type DeviceAuthorizationStatus = 'pending' | 'approved' | 'denied' | 'redeemed';

/** A device authorization request (RFC 8628). Neither code is stored in plain text. */
@Entity({ name: 'device_authorization' })
export class DeviceAuthorization extends StoredRow {
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @Column({ type: 'varchar', length: 11 })
  environment!: PlatformEnvironment;

  /** SHA-256, which suffices for 256 random bits. */
  @Column({ name: 'device_code_hash', type: 'bytea' })
  deviceCodeHash!: Buffer;

  /** A keyed HMAC, because a plain hash of such a short code could be reversed. */
  @Column({ name: 'user_code_digest', type: 'bytea' })
  userCodeDigest!: Buffer;

  /** Encrypted, for the approval page, which shows the code again. */
  @Column({ name: 'user_code_sealed', type: 'bytea' })
  userCodeSealed!: Buffer;

  @Column({ type: 'text', array: true })
  scopes!: Scope[];

  @Column({ type: 'varchar', length: 8 })
  status!: DeviceAuthorizationStatus;

  /** The first interval between polls; `DevicePollState` has the current one. */
  @Column({ name: 'interval_seconds', type: 'integer' })
  intervalSeconds!: number;

  @Column({ name: 'requested_at', type: 'timestamptz', precision: 3 })
  requestedAt!: Date;

  /** An expired request is kept for another day, so that a device that polls late learns that its code has expired. */
  @DeleteAfter(DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @Column({ type: 'text' })
  ip!: string;

  @Column({ name: 'user_agent', type: 'text' })
  userAgent!: string;

  /** The user who decided; null before the decision, and after that user is deleted. */
  @Column({ name: 'user_id', type: 'uuid', nullable: true })
  userId!: string | null;

  @Column({ name: 'decided_at', type: 'timestamptz', precision: 3, nullable: true })
  decidedAt!: Date | null;

  /** When the device got its access token; null before, and for devices that the previous release redeemed. */
  @Column({ name: 'redeemed_at', type: 'timestamptz', precision: 3, nullable: true })
  redeemedAt!: Date | null;

  /** The login session that entered the user code last. Only that session can decide. */
  @Column({ name: 'entered_in_session', type: 'uuid', nullable: true })
  enteredInSession!: string | null;

  /** The access version of the user who decided, at that time. */
  @Column({ name: 'access_version', type: 'integer', nullable: true })
  accessVersion!: number | null;
}

/**
 * The last accepted poll of a device authorization, its current interval, and whether the latest poll was early. The
 * table is unlogged: a crash empties it.
 */
@Entity({ name: 'device_poll' })
export class DevicePollState {
  @PrimaryColumn({ name: 'authorization_id', type: 'uuid' })
  authorizationId!: string;

  /** Never later than the expiry of the device authorization. A day later, no device polls for it anymore. */
  @DeleteAfter(DAY)
  @Column({ name: 'accepted_at', type: 'timestamptz', precision: 3 })
  acceptedAt!: Date;

  @Column({ name: 'interval_seconds', type: 'integer' })
  intervalSeconds!: number;

  @Column({ type: 'boolean' })
  early!: boolean;
}
