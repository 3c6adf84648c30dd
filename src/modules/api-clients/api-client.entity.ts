import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';

/** An API client of an organization, one for each environment. Its ID is the `client_id`. */
@Entity({ name: 'api_client' })
@Check('api_client_environment_check', `environment IN ('development', 'production')`)
@Unique('api_client_organization_environment_key', ['organizationId', 'environment'])
export class ApiClient {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'api_client_pkey' })
  id!: string;

  @ForeignKey('organization', { name: 'api_client_organization_fkey' })
  @Column({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @Column({ type: 'varchar', length: 11 })
  environment!: PlatformEnvironment;

  /** What the organization calls the client; null until it is named. */
  @Column({ type: 'varchar', length: 100, nullable: true })
  name!: string | null;

  /** Restricted operations that this client may use. */
  @Column({ name: 'enabled_operations', type: 'text', array: true, default: () => "'{}'" })
  enabledOperations!: string[];

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
