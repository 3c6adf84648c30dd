import { Check, Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';

/** A company that users have accounts with. */
@Entity({ name: 'merchant' })
export class Merchant {
  @PrimaryColumn({
    type: 'integer',
    generated: 'identity',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'merchant_pkey',
  })
  id!: number;

  @Column({ type: 'varchar', length: 256 })
  name!: string;
}

/** The match key of a name or alias of a merchant. */
@Entity({ name: 'merchant_name' })
export class MerchantName {
  @PrimaryColumn({ name: 'match_key', type: 'text', primaryKeyConstraintName: 'merchant_name_pkey' })
  matchKey!: string;

  @ForeignKey(() => Merchant, { name: 'merchant_name_merchant_fkey' })
  @Column({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;
}

/** A merchant that an organization hides. Merchants without a row are shown. */
@Entity({ name: 'merchant_visibility' })
@Check('merchant_visibility_environment_check', `environment IN ('development', 'production')`)
export class HiddenMerchant {
  @ForeignKey('organization', { name: 'merchant_visibility_organization_fkey' })
  @PrimaryColumn({
    name: 'organization_id',
    type: 'uuid',
    primaryKeyConstraintName: 'merchant_visibility_pkey',
  })
  organizationId!: string;

  @PrimaryColumn({ type: 'varchar', length: 11, primaryKeyConstraintName: 'merchant_visibility_pkey' })
  environment!: PlatformEnvironment;

  @ForeignKey(() => Merchant, { name: 'merchant_visibility_merchant_fkey' })
  @PrimaryColumn({
    name: 'merchant_id',
    type: 'integer',
    primaryKeyConstraintName: 'merchant_visibility_pkey',
  })
  merchantId!: number;

  @Column({ name: 'hidden_at', type: 'timestamptz', precision: 3 })
  hiddenAt!: Date;
}
