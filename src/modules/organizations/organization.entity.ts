import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../infrastructure/database/index.js';
import type { LogoMediaType } from './logo.js';

@Entity({ name: 'organization' })
export class Organization extends DatedRow {
  @Column({ type: 'varchar', length: 256 })
  name!: string;

  @Column({ name: 'activated_at', type: 'timestamptz', precision: 3, nullable: true })
  activatedAt!: Date | null;

  /** From when users need a second factor; null if they do not. */
  @Column({ name: 'second_factor_required_from', type: 'timestamptz', precision: 3, nullable: true })
  secondFactorRequiredFrom!: Date | null;

  /** The logo of the organization's app. Up to 256 KiB, so it is selected explicitly. */
  @Column({ type: 'bytea', nullable: true, select: false })
  logo!: Buffer | null;

  @Column({ name: 'logo_media_type', type: 'text', nullable: true })
  logoMediaType!: LogoMediaType | null;
}
