import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import { MAX_DESCRIPTION_LENGTH, MAX_URL_LENGTH } from './webhook-endpoint-limits.js';

/** A URL that receives a client's webhooks. Deleting it deletes its deliveries and its lane. */
@Entity({ name: 'webhook_endpoint' })
@Unique('webhook_endpoint_client_url_key', ['clientId', 'url'])
export class WebhookEndpoint {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'webhook_endpoint_pkey' })
  id!: string;

  @ForeignKey('api_client', { name: 'webhook_endpoint_client_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  /** The normal form, which is ASCII, so that the longest URL fits in an entry of the unique index (2,704 bytes). */
  @Column({ type: 'varchar', length: MAX_URL_LENGTH })
  url!: string;

  @Column({ type: 'varchar', length: MAX_DESCRIPTION_LENGTH, nullable: true })
  description!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
