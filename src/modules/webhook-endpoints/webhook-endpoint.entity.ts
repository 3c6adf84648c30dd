import { Column, DeleteDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** Maximum number of endpoints of an organization in one environment (specification, "Limits"). */
export const MAX_ENDPOINTS = 10;
/** Characters (specification, "Limits"). */
export const MAX_URL_LENGTH = 2083;
export const MAX_DESCRIPTION_LENGTH = 255;

/** A URL that receives a client's webhooks. Deleting an endpoint deletes its deliveries and its lane, the state of its queue. */
@Entity({ name: 'webhook_endpoint' })
// Unique, on (client_id, md5(url)), which TypeORM cannot express.
export class WebhookEndpoint {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;

  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  /** In the normal form (`normalUrl`), in which one character of the given URL can become 12. */
  @Column({ type: 'text' })
  url!: string;

  @Column({ type: 'varchar', length: MAX_DESCRIPTION_LENGTH, nullable: true })
  description!: string | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** The names of the events that are sent to the endpoint; null for all. */
  @Column({ type: 'text', array: true, nullable: true })
  events!: string[] | null;

  /** Set when the endpoint was disabled because it kept failing. Nothing is published to it until it is enabled. */
  @Column({ name: 'disabled_at', type: 'timestamptz', precision: 3, nullable: true })
  disabledAt!: Date | null;

  /** Finders leave out endpoints with it. They are disabled, too, and removed when the deliveries of their long queue have been dropped. */
  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz', precision: 3, select: false })
  deletedAt?: Date | null;

  /** When the endpoint was disabled earlier, and since when it had missed events then. Only recoveries read it. */
  @Column({ name: 'missed_periods', type: 'tstzmultirange', default: '{}', select: false })
  missedPeriods?: string;

  /** Counts the changes of the endpoint's own keys and headers, so that each process notices one at once; 0 if it never had any. */
  @Column({ name: 'signing_revision', type: 'integer', default: 0 })
  signingRevision!: number;

  /** The names of the endpoint's own headers, in the order of their values. */
  @Column({ name: 'header_names', type: 'text', array: true, default: '{}' })
  headerNames!: string[];

  /** An array in JSON, sealed: the origin of the receiver for which the endpoint's own headers are meant, and their values. */
  @Column({ name: 'sealed_headers', type: 'bytea', nullable: true, select: false })
  sealedHeaders?: Buffer | null;
}

/** Returns the `owner` argument for `Sealer`: the row that the encrypted headers are bound to. */
export function ownerOfHeaders(endpointId: string): string[] {
  return ['webhook_endpoint', endpointId, 'headers'];
}
