import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { MAX_FILTER_NAME_LENGTH } from '../../infrastructure/pages/index.js';

/** Filters that a dashboard user saved for a list. */
@Entity({ name: 'saved_filter' })
@Unique('saved_filter_name_key', ['userId', 'list', 'name'])
export class SavedFilter {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'saved_filter_pkey' })
  id!: string;

  @ForeignKey('dashboard_user', { name: 'saved_filter_user_fkey', onDelete: 'CASCADE' })
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  /** Whose data the list shows; null for a list of the organization. */
  @ForeignKey('api_client', { name: 'saved_filter_client_fkey', onDelete: 'CASCADE' })
  @Index('saved_filter_client_index')
  @Column({ name: 'client_id', type: 'uuid', nullable: true })
  clientId!: string | null;

  /** The path of the list's page. */
  @Column({ type: 'varchar', length: 100 })
  list!: string;

  @Column({ type: 'varchar', length: MAX_FILTER_NAME_LENGTH })
  name!: string;

  /** Parameters of the page's address. They may name users. */
  @Column({ type: 'jsonb' })
  filters!: Readonly<Record<string, string>>;
}
