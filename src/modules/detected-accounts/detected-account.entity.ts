import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** An account of a user with a merchant, found by the detection pipeline. */
@Entity({ name: 'detected_account' })
export class DetectedAccount {
  @ForeignKey('api_client', { name: 'detected_account_client_fkey' })
  @PrimaryColumn({ name: 'client_id', type: 'uuid', primaryKeyConstraintName: 'detected_account_pkey' })
  clientId!: string;

  @PrimaryColumn({
    name: 'external_user_id',
    type: 'varchar',
    length: 256,
    primaryKeyConstraintName: 'detected_account_pkey',
  })
  externalUserId!: string;

  @ForeignKey('merchant', { name: 'detected_account_merchant_fkey' })
  @PrimaryColumn({ name: 'merchant_id', type: 'integer', primaryKeyConstraintName: 'detected_account_pkey' })
  merchantId!: number;

  @Column({ name: 'detected_at', type: 'timestamptz', precision: 3 })
  detectedAt!: Date;
}
