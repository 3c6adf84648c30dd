import { Entity, Column } from 'typeorm';
import { StoredRow } from '../../infrastructure/database/index.js';
import { MAX_FILTER_NAME_LENGTH } from '../../infrastructure/pages/index.js';

@Entity({ name: 'saved_filter' })
export class SavedFilter extends StoredRow {
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  /** The API client whose data the list shows; null for a list of the organization. */
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
