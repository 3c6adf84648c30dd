import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** A browser in which a user has logged in. It is recognized by its cookie, which lasts a year. */
@Entity({ name: 'known_browser' })
export class KnownBrowser {
  /** SHA-256 of the user and the cookie. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'known_browser_pkey' })
  digest!: Buffer;

  @ForeignKey('dashboard_user', { name: 'known_browser_user_fkey', onDelete: 'CASCADE' })
  @Index('known_browser_user_index')
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Index('known_browser_logged_in_at_index')
  @DeleteAfter(365 * DAY)
  @Column({ name: 'logged_in_at', type: 'timestamptz', precision: 3 })
  loggedInAt!: Date;
}
