import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { RESET_LIFETIME } from './password-link.entity.js';

/** A request for a new password, for an email that may have no account. It is looked up after the response. */
@Entity({ name: 'password_reset_request' })
export class PasswordResetRequest {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ name: 'email_sealed', type: 'bytea' })
  emailSealed!: Buffer;

  @DeleteAfter(RESET_LIFETIME)
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
