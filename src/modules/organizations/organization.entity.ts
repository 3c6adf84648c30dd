import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A customer of the platform. */
@Entity({ name: 'organization' })
export class Organization {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'organization_pkey' })
  id!: string;

  @Column({ type: 'varchar', length: 256 })
  name!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
