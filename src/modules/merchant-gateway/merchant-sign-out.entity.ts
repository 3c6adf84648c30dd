import { Entity, PrimaryColumn, Column } from 'typeorm';
import { DeleteAfter } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

const NIL = '00000000-0000-0000-0000-000000000000';

/**
 * A sign-in that the gateway has to end, because the account was unlinked, its user was erased, its link ended, or the user
 * entered credentials again instead of a code. Deleted when the gateway has confirmed it.
 */
@Entity({ name: 'merchant_sign_out' })
export class MerchantSignOut {
  /** The session of an unlinked account, or another sign-in. */
  @PrimaryColumn({ name: 'sign_in_id', type: 'uuid' })
  signInId!: string;

  /** Clients take turns. The NIL UUID for sign-ins that version 0.3.0 has stored. */
  @Column({ name: 'client_id', type: 'uuid', default: NIL })
  clientId!: string;

  /** The job stops after a month without a confirmation. */
  @DeleteAfter(30 * DAY)
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** When the last request about the sign-in was sent to the gateway. */
  @Column({ name: 'asked_at', type: 'timestamptz', precision: 3, nullable: true })
  askedAt!: Date | null;
}
