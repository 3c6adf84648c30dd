import { Column, Entity, IsNull, PrimaryColumn } from 'typeorm';
import { DueSince } from '../../infrastructure/database/index.js';
import type { SetMerchantStatusRequest } from './merchant-statuses.dto.js';

/** The current status of a merchant for a type of session, and the progress of notifying clients of it. */
@Entity({ name: 'merchant_status' })
export class MerchantStatus {
  @PrimaryColumn({ name: 'merchant_id', type: 'integer' })
  merchantId!: number;

  @PrimaryColumn({ type: 'varchar', length: 16 })
  type!: SetMerchantStatusRequest['type'];

  @Column({ type: 'varchar', length: 4 })
  status!: SetMerchantStatusRequest['status'];

  /** When the status last changed, which started the notification. */
  @DueSince<MerchantStatus>('merchant_status_events', { finishedAt: IsNull() })
  @Column({ name: 'requested_at', type: 'timestamptz', precision: 3 })
  requestedAt!: Date;

  /**
   * ID of the last client for which the event was published. Clients are processed in the order of their IDs. Null until the
   * first page is published.
   */
  @Column({ name: 'last_client_id', type: 'uuid', nullable: true })
  lastClientId!: string | null;

  @Column({ type: 'integer', default: 0 })
  published!: number;

  @Column({ name: 'finished_at', type: 'timestamptz', precision: 3, nullable: true })
  finishedAt!: Date | null;
}
