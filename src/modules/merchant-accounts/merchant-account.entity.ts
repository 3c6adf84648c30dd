import { Column, Entity, PrimaryColumn } from 'typeorm';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH } from '../../infrastructure/validation/index.js';

const MERCHANT_ACCOUNT_STATES = ['connected', 'disconnected'] as const;
export type MerchantAccountState = (typeof MERCHANT_ACCOUNT_STATES)[number];

export const MERCHANT_ACCOUNT_STATE = enumeration(
  'MerchantAccountState',
  MERCHANT_ACCOUNT_STATES,
  '`connected`: the user has signed in. `disconnected`: the merchant requires the user to sign in again.',
);

/** An account that a user has signed in to at a merchant. Pages of accounts follow the order of the primary key. */
@Entity({ name: 'merchant_account' })
export class MerchantAccount {
  @PrimaryColumn({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @PrimaryColumn({ name: 'external_user_id', type: 'varchar', length: MAX_EXTERNAL_USER_ID_LENGTH })
  externalUserId!: string;

  @PrimaryColumn({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;

  @Column({ type: 'varchar', length: 12 })
  state!: MerchantAccountState;

  /** When the user last signed in, or when the account was disconnected. */
  @Column({ name: 'since', type: 'timestamptz', precision: 3 })
  stateSetAt!: Date;

  /** When the client unlinked the account; null once the user has signed in again. */
  @Column({ name: 'unlinked_at', type: 'timestamptz', precision: 3, nullable: true })
  unlinkedAt!: Date | null;

  /**
   * The session in which the user last signed in. There is no foreign key, because sessions are deleted after they expire, and
   * events of the sandbox can have the ID of a session that never existed.
   */
  @Column({ name: 'session_id', type: 'uuid', nullable: true })
  sessionId!: string | null;
}
