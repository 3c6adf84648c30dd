import { Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import { ApiClient } from './api-client.entity.js';

/**
 * A secret of an API client. It is stored twice: as a digest, to authenticate requests, and encrypted, because the same
 * secret signs webhooks and can be shown again.
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

  /** Time from which this secret signs webhooks, until a later version does. */
  @Column({ name: 'signs_from', type: 'timestamptz', precision: 3 })
  signsFrom!: Date;

  /** Time from which requests with this secret are rejected; null until the secret is replaced. */
  @Column({ name: 'accepted_until', type: 'timestamptz', precision: 3, nullable: true })
  acceptedUntil!: Date | null;
}

/** Returns the owner that a secret is encrypted for (`Sealer`), so that it cannot be decrypted in another row. */
export function sealedFor({ id, version }: Pick<ApiSecret, 'id' | 'version'>, client: ApiClient): string[] {
  return ['api_secret', client.id, client.environment, id, String(version)];
}
