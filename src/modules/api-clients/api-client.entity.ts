import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../infrastructure/database/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { SecretVersion } from '../../infrastructure/issued-tokens/index.js';

export const MAX_NAME_LENGTH = 100;

/** An API client of an organization, one for each environment. Its ID is the `client_id`. */
@Entity({ name: 'api_client' })
export class ApiClient extends DatedRow {
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @Column({ type: 'varchar', length: 11 })
  environment!: PlatformEnvironment;

  /** The name that the organization gave the client; null until it is named. */
  @Column({ type: 'varchar', length: MAX_NAME_LENGTH, nullable: true })
  name!: string | null;

  @Column({ name: 'enabled_operations', type: 'text', array: true, default: () => "'{}'" })
  enabledOperations!: string[];

  /** The time since which secrets only sign webhooks, and requests need an API key; null if secrets are also accepted for requests. */
  @Column({ name: 'signing_only_since', type: 'timestamptz', precision: 3, nullable: true })
  signingOnlySince!: Date | null;
}

/**
 * A secret of an API client. It is stored twice: as a digest, to authenticate requests, and encrypted, because the same
 * secret signs webhooks and can be shown again.
 */
@Entity({ name: 'api_secret' })
export class ApiSecret extends SecretVersion {
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ type: 'bytea' })
  digest!: Buffer;

  @Column({ type: 'bytea' })
  sealed!: Buffer;

  /** The time of the last request with the secret, accurate to about a minute. Null if there was none since version 0.5.0. */
  @Column({ name: 'last_used_at', type: 'timestamptz', precision: 3, nullable: true })
  lastUsedAt!: Date | null;

  @Column({ name: 'last_used_ip', type: 'text', nullable: true })
  lastUsedIp!: string | null;
}

/** Returns the `owner` argument for `Sealer`: the row that the encrypted secret is bound to. */
export function ownerOfSecret(
  { id, version }: Pick<ApiSecret, 'id' | 'version'>,
  client: ApiClient,
): string[] {
  return ['api_secret', client.id, client.environment, id, String(version)];
}
