import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';

/** What an organization calls the platform with: one for each environment. Its id is the `client_id`. */
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

  /** Operations that need an arrangement and that this client has one for. */
  @Column({ name: 'enabled_operations', type: 'text', array: true, default: () => "'{}'" })
  enabledOperations!: string[];

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
