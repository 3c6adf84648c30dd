import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Merchant } from './merchant.entity.js';

/** A name or alias that is taken for a merchant, reduced to its match key. */
@Entity({ name: 'merchant_name' })
export class MerchantName {
  @PrimaryColumn({ name: 'match_key', type: 'text', primaryKeyConstraintName: 'merchant_name_pkey' })
  matchKey!: string;

  @ForeignKey(() => Merchant, { name: 'merchant_name_merchant_fkey' })
  @Column({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;
}
