import { Entity, PrimaryColumn, Column } from 'typeorm';

/** The decisions of an organization about single sign-on. */
@Entity({ name: 'sso_setting' })
export class SsoSetting {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  /** Whether people with an address in a proved domain become users when they log in for the first time. */
  @Column({ name: 'creates_users', type: 'boolean' })
  createsUsers!: boolean;

  /** The claim or attribute whose values decide the role; null if the provider does not decide it. */
  @Column({ name: 'role_attribute', type: 'text', nullable: true })
  roleAttribute!: string | null;

  /** The values for each role. Everybody else is a viewer. */
  @Column({ name: 'owner_values', type: 'text', array: true })
  ownerValues!: string[];

  @Column({ name: 'admin_values', type: 'text', array: true })
  adminValues!: string[];

  @Column({ name: 'member_values', type: 'text', array: true })
  memberValues!: string[];

  @Column({ name: 'is_two_factor', type: 'boolean' })
  isTwoFactor!: boolean;

  /** The time since which everybody but break-glass owners must log in at the provider; null if passwords work, too. */
  @Column({ name: 'required_at', type: 'timestamptz', precision: 3, nullable: true })
  requiredAt!: Date | null;
}
