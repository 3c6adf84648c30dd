import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';

/** A company that users have accounts with. */
@Entity({ name: 'merchant' })
export class Merchant {
  @PrimaryColumn({ type: 'integer', generated: 'identity', generatedIdentity: 'BY DEFAULT' })
  id!: number;

  @Column({ type: 'varchar', length: 256 })
  name!: string;
}

@Entity({ name: 'merchant_name' })
export class MerchantName {
  @PrimaryColumn({ name: 'match_key', type: 'text' })
  matchKey!: string;

  @Column({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;
}

/** A merchant that an organization hides. Merchants without a row are shown. */
@Entity({ name: 'merchant_visibility' })
export class HiddenMerchant {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @PrimaryColumn({ type: 'varchar', length: 11 })
  environment!: PlatformEnvironment;

  @PrimaryColumn({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;

  @Column({ name: 'hidden_at', type: 'timestamptz', precision: 3 })
  hiddenAt!: Date;
}
