import { Column, PrimaryColumn } from 'typeorm';

/** A row that an ID of its own identifies. */
export abstract class StoredRow {
  @PrimaryColumn({ type: 'uuid' })
  id!: string;
}

/** A row that says when it was created, and is kept however long ago that is. */
export abstract class DatedRow extends StoredRow {
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
