import { Column, Entity } from 'typeorm';
import type { Scope } from '../../infrastructure/auth/index.js';
import { IssuedToken } from '../../infrastructure/issued-tokens/index.js';
import type { KeyTrust } from './key-trust.js';

/** A credential of one of the programs of an organization. */
@Entity({ name: 'api_key' })
export class ApiKey extends IssuedToken<Scope> {
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  /** The addresses from which requests are accepted, as `normalRange` spells them. If there are none, all addresses are accepted. */
  @Column({ name: 'ip_ranges', type: 'text', array: true })
  ipRanges!: string[];

  /** Null for an operator. The key outlives its creator. */
  @Column({ name: 'creator_id', type: 'uuid', nullable: true })
  creatorId!: string | null;

  /** The email address at the time. */
  @Column({ name: 'created_by', type: 'text' })
  createdBy!: string;

  @Column({ name: 'last_used_ip', type: 'text', nullable: true })
  lastUsedIp!: string | null;

  /** When a successor with the same name was issued; the key is accepted until `expiresAt`. */
  @Column({ name: 'rotated_at', type: 'timestamptz', precision: 3, nullable: true })
  rotatedAt!: Date | null;

  /** The tokens that the program sends in place of the key, whose text is never shown; null for a key that was shown. */
  @Column({ type: 'jsonb', nullable: true })
  trust!: KeyTrust | null;
}
