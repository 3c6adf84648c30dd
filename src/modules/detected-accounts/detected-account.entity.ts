import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH } from '../../infrastructure/validation/index.js';
import { DetectedAccountsConfiguration } from './detected-accounts.configuration.js';

/** An account of a user with a merchant, found by the detection pipeline. */
@Entity({ name: 'detected_account' })
export class DetectedAccount {
  @PrimaryColumn({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @PrimaryColumn({ name: 'external_user_id', type: 'varchar', length: MAX_EXTERNAL_USER_ID_LENGTH })
  externalUserId!: string;

  @PrimaryColumn({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;

  @DeleteAfter((configuration) => {
    const { retentionDays } = configuration.get(DetectedAccountsConfiguration);
    return retentionDays && retentionDays * DAY;
  })
  @Column({ name: 'detected_at', type: 'timestamptz', precision: 3 })
  detectedAt!: Date;
}
