import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import { MAX_DESCRIPTION_LENGTH, MAX_URL_LENGTH } from './webhook-endpoint-limits.js';

/** Where webhooks of a client are sent to. Whatever belongs to an endpoint goes with it. */
@Entity({ name: 'webhook_endpoint' })
@Unique('webhook_endpoint_client_url_key', ['clientId', 'url'])
export class WebhookEndpoint {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'webhook_endpoint_pkey' })
  id!: string;

  @ForeignKey('api_client', { name: 'webhook_endpoint_client_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  /** In its normal form, which is ASCII: the longest one fits into an entry of the unique index (2,704 bytes). */
  @Column({ type: 'varchar', length: MAX_URL_LENGTH })
  url!: string;

  @Column({ type: 'varchar', length: MAX_DESCRIPTION_LENGTH, nullable: true })
  description!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
