import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A company that users have accounts with. */
@Entity({ name: 'merchant' })
export class Merchant {
  @PrimaryColumn({
    type: 'integer',
    generated: 'identity',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'merchant_pkey',
  })
  id!: number;

  @Column({ type: 'varchar', length: 256 })
  name!: string;
}
