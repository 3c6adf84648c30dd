import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AgentScope } from '../../../infrastructure/auth/index.js';
import { DatedRow, DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import type { AgentKind } from '../agents/agent.js';
import type { Purpose } from './identification.js';

/**
 * `pending`: the user has not logged in yet. `completed`: the partner has named the user, whose browser has not returned yet.
 * `confirmed`: the user is known, and can decide. `redeemed`: the agent has its tokens. `ended`: another browser returned, another
 * user logs in, or the code was used twice. Expiry is not a status: `expiresAt` decides.
 */
export type AgentAuthorizationStatus =
  'pending' | 'completed' | 'confirmed' | 'approved' | 'declined' | 'redeemed' | 'ended';

/** The access that an agent has for a user, or asks for. */
export abstract class AgentUse extends DatedRow {
  /** The API client, whose user connects the agent. */
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  /** The `client_id` of the agent: a URL or a UUID. */
  @Column({ name: 'agent_id', type: 'text' })
  agentId!: string;

  @Column({ name: 'agent_name', type: 'varchar', length: 200 })
  agentName!: string;

  @Column({ name: 'phone_number_sealed', type: 'bytea', nullable: true })
  phoneNumberSealed!: Buffer | null;

  @Column({ type: 'text', array: true })
  scopes!: AgentScope[];
}

/**
 * An authorization request of an agent (RFC 6749, section 4.1.1), or a login for another purpose, whose columns about an agent are
 * empty. Only hashes of the cookie, the ticket and the code are stored.
 */
@Entity({ name: 'agent_authorization' })
export class AgentAuthorization extends AgentUse {
  @Column({ type: 'varchar', length: 12, default: 'agent' })
  purpose!: Purpose;

  /** The user of a login that is not for an agent continues below this path. */
  @Column({ name: 'continue_at', type: 'text', nullable: true })
  continueAt!: string | null;

  @Column({ name: 'agent_kind', type: 'varchar', length: 10 })
  agentKind!: AgentKind;

  @Column({ name: 'redirect_uri', type: 'text' })
  redirectUri!: string;

  @Column({ type: 'text', nullable: true })
  state!: string | null;

  @Column({ name: 'code_challenge', type: 'varchar', length: 43 })
  codeChallenge!: string;

  /** SHA-256 of the cookie of the browser that sent the request. Only this browser can continue. */
  @Column({ name: 'browser_hash', type: 'bytea' })
  browserHash!: Buffer;

  @Column({ type: 'varchar', length: 9 })
  status!: AgentAuthorizationStatus;

  @Column({ name: 'external_user_id', type: 'varchar', length: 256, nullable: true })
  externalUserId!: string | null;

  /**
   * SHA-256 of the ticket in the URL that the partner redirects its user to. It proves that the browser belongs to the user who
   * logged in: the cookie alone would let an attacker have a victim log in, and decide instead of the victim.
   */
  @Column({ name: 'ticket_hash', type: 'bytea', nullable: true })
  ticketHash!: Buffer | null;

  /** SHA-256. */
  @Column({ name: 'code_hash', type: 'bytea', nullable: true })
  codeHash!: Buffer | null;

  @Column({ name: 'code_expires_at', type: 'timestamptz', precision: 3, nullable: true })
  codeExpiresAt!: Date | null;

  /** The connection that the code was exchanged for. */
  @Column({ name: 'connection_id', type: 'uuid', nullable: true })
  connectionId!: string | null;

  /**
   * Anyone can begin a request, so none is kept longer. Once the code is redeemed, the time until which a second use of it is noticed:
   * when the connection expires unless it is used.
   */
  @DeleteAfter(0)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}

/** A code that a user types on the authorization page instead of logging in. Deleted when it is used. */
@Entity({ name: 'agent_connection_code' })
export class AgentConnectionCode {
  /** A keyed HMAC, because a plain hash of such a short code could be reversed. */
  @PrimaryColumn({ name: 'code_digest', type: 'bytea' })
  codeDigest!: Buffer;

  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  @Column({ name: 'phone_number_sealed', type: 'bytea', nullable: true })
  phoneNumberSealed!: Buffer | null;

  @DeleteAfter(DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
