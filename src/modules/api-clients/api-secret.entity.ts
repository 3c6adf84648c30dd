import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import { ApiClient } from './api-client.entity.js';

/**
 * A secret of an API client. Kept twice: a digest under the pepper, for login, and sealed, because the
 * same secret signs webhooks and may be shown again.
 */
@Entity({ name: 'api_secret' })
@Unique('api_secret_client_version_key', ['clientId', 'version'])
export class ApiSecret {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'api_secret_pkey' })
  id!: string;

  @ForeignKey(() => ApiClient, { name: 'api_secret_client_fkey' })
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ type: 'integer' })
  version!: number;

  @Column({ type: 'bytea' })
  digest!: Buffer;

  @Column({ type: 'bytea' })
  sealed!: Buffer;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** From then on webhooks are signed with it, until a later version signs. */
  @Column({ name: 'signs_from', type: 'timestamptz', precision: 3 })
  signsFrom!: Date;

  /** Login is refused from then on; null while nothing replaces it. */
  @Column({ name: 'accepted_until', type: 'timestamptz', precision: 3, nullable: true })
  acceptedUntil!: Date | null;
}
