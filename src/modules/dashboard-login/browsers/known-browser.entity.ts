import { Entity, PrimaryColumn, Column } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** A browser in which a user has logged in. It is recognized by its cookie, which lasts a year. */
@Entity({ name: 'known_browser' })
export class KnownBrowser {
  /** SHA-256 of the user and the cookie. */
  @PrimaryColumn({ type: 'bytea' })
  digest!: Buffer;

  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @DeleteAfter(365 * DAY)
  @Column({ name: 'logged_in_at', type: 'timestamptz', precision: 3 })
  loggedInAt!: Date;
}
