import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../infrastructure/database/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';

export const MAX_NAME_LENGTH = 100;

/** An API client of an organization, one for each environment. Its ID is the `client_id`. */
@Entity({ name: 'api_client' })
export class ApiClient extends DatedRow {
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @Column({ type: 'varchar', length: 11 })
  environment!: PlatformEnvironment;

  /** What the organization calls the client; null until it is named. */
  @Column({ type: 'varchar', length: MAX_NAME_LENGTH, nullable: true })
  name!: string | null;

  @Column({ name: 'enabled_operations', type: 'text', array: true, default: () => "'{}'" })
  enabledOperations!: string[];
}

/**
 * A secret of an API client. It is stored twice: as a digest, to authenticate requests, and encrypted, because the same
 * secret signs webhooks and can be shown again.
 */
@Entity({ name: 'api_secret' })
export class ApiSecret extends DatedRow {
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ type: 'integer' })
  version!: number;

  @Column({ type: 'bytea' })
  digest!: Buffer;

  @Column({ type: 'bytea' })
  sealed!: Buffer;

  /** Time from which this secret signs webhooks, until a later version does. An activation sets it to the creation time. */
  @Column({ name: 'signs_from', type: 'timestamptz', precision: 3 })
  signsFrom!: Date;

  /** Time from which requests with this secret are rejected; null until the secret is replaced. */
  @Column({ name: 'accepted_until', type: 'timestamptz', precision: 3, nullable: true })
  acceptedUntil!: Date | null;
}

/** Returns the `owner` argument for `Sealer`: the row that the encrypted secret is bound to. */
export function ownerOfSecret(
  { id, version }: Pick<ApiSecret, 'id' | 'version'>,
  client: ApiClient,
): string[] {
  return ['api_secret', client.id, client.environment, id, String(version)];
}
