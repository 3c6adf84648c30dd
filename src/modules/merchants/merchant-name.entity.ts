import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Merchant } from './merchant.entity.js';

/** The match key of a name or alias of a merchant. */
@Entity({ name: 'merchant_name' })
export class MerchantName {
  @PrimaryColumn({ name: 'match_key', type: 'text', primaryKeyConstraintName: 'merchant_name_pkey' })
  matchKey!: string;

  @ForeignKey(() => Merchant, { name: 'merchant_name_merchant_fkey' })
  @Column({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;
}
