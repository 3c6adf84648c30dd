import { Column, Entity, IsNull } from 'typeorm';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { DatedRow, DeleteAfter, DueSince } from '../../infrastructure/database/index.js';
import type { SessionMetadata } from '../../infrastructure/event-catalog/index.js';
import { DAY, MINUTE } from '../../infrastructure/time/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH } from '../../infrastructure/validation/index.js';

/** `expired` is not stored: a link that is still pending at `expiresAt` has expired. */
export const SIGN_IN_LINK_STATUSES = ['pending', 'completed', 'failed', 'expired', 'cancelled'] as const;
export type SignInLinkStatus = (typeof SIGN_IN_LINK_STATUSES)[number];

/**
 * How the person who opens a link proves to be the user. `phone`: the link was sent to the phone of the user. `partner_login`: the
 * user logs in at the partner.
 */
export const SIGN_IN_PROOFS = ['partner_login', 'phone'] as const;
export type SignInProof = (typeof SIGN_IN_PROOFS)[number];

/** The creators of a link. */
export const SIGN_IN_LINK_SOURCES = ['agent', 'backend', 'dashboard'] as const;
export type SignInLinkSource = (typeof SIGN_IN_LINK_SOURCES)[number];

/** `other_link`: the user signed in with another link. `revocation`: the agent may no longer act for the user. */
export const SIGN_IN_LINK_CANCELLERS = [
  'user',
  'agent',
  'backend',
  'dashboard',
  'other_link',
  'revocation',
] as const;
export type SignInLinkCanceller = (typeof SIGN_IN_LINK_CANCELLERS)[number];

/** Milliseconds from the creation of a link until `expiresAt`, unless the backend chose another time. */
export const LINK_LIFETIME = 15 * MINUTE;

/**
 * A link with which one user can sign in to one merchant, once, until `expiresAt`. The table contains only the hash of its token, and
 * nothing that the user enters.
 */
@Entity({ name: 'sign_in_link' })
export class SignInLink extends DatedRow {
  /** SHA-256. The token of a link that requires a login is not known to anyone. */
  @Column({ name: 'token_hash', type: 'bytea' })
  tokenHash!: Buffer;

  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ type: 'varchar', length: 11 })
  environment!: PlatformEnvironment;

  @Column({ name: 'external_user_id', type: 'varchar', length: MAX_EXTERNAL_USER_ID_LENGTH })
  externalUserId!: string;

  /** SHA-256 of the MCP token of the agent. Its revocation cancels the link. Null for links that no agent created. */
  @Column({ name: 'mcp_token_hash', type: 'bytea', nullable: true })
  mcpTokenHash!: Buffer | null;

  @Column({ type: 'varchar', length: 13, default: 'phone' })
  proof!: SignInProof;

  @Column({ type: 'varchar', length: 9, default: 'agent' })
  source!: SignInLinkSource;

  /** Where the user goes when the link has ended. */
  @Column({ name: 'return_url', type: 'text', nullable: true })
  returnUrl!: string | null;

  /** For the webhooks of the sign-in. */
  @Column({ type: 'jsonb', nullable: true })
  metadata!: SessionMetadata | null;

  @Column({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;

  @Column({ type: 'varchar', length: 9 })
  status!: Exclude<SignInLinkStatus, 'expired'>;

  /** The party that cancelled a cancelled link. Null if version 0.3.0 cancelled it. */
  @Column({ name: 'cancelled_by', type: 'varchar', length: 10, nullable: true })
  cancelledBy!: SignInLinkCanceller | null;

  /**
   * ID of the sign-in at the merchant, from the first attempt until its outcome is final. If the link ends before that, the sign-in
   * is undone. When the link is completed, it becomes the ID of the session.
   */
  @Column({ name: 'sign_in_id', type: 'uuid', nullable: true })
  signInId!: string | null;

  /** When the last request about the sign-in was sent to the merchant. */
  @Column({ name: 'sign_in_asked_at', type: 'timestamptz', precision: 3, nullable: true })
  signInAskedAt!: Date | null;

  /** Number of times that credentials or codes were sent to the merchant, without attempts whose outcome is not known. */
  @Column({ type: 'smallint', default: 0 })
  attempts!: number;

  /** The ID of the challenge and the hint of a merchant that asks for a one-time code. Encrypted. */
  @Column({ name: 'challenge_sealed', type: 'bytea', nullable: true })
  challengeSealed!: Buffer | null;

  /** The session of a completed link. */
  @Column({ name: 'session_id', type: 'uuid', nullable: true })
  sessionId!: string | null;

  /** An expired link is kept for another week, so that agents and operators can see its status. */
  @DueSince<SignInLink>('expired_sign_in_links', { status: 'pending', finishedAt: IsNull() })
  @DeleteAfter(7 * DAY, 'finished_at IS NOT NULL AND sign_in_id IS NULL')
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  /** When the status changed from `pending`, or when the event of an expired link was published. */
  @Column({ name: 'finished_at', type: 'timestamptz', precision: 3, nullable: true })
  finishedAt!: Date | null;
}
