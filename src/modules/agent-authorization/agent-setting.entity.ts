import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Which agents may log in: none, those that return to one of the listed hosts, or any. */
export const ALLOWED_AGENTS = ['off', 'hosts', 'any'] as const;
export type AllowedAgents = (typeof ALLOWED_AGENTS)[number];

/** The people who may log in as any user of the sandbox of a production deployment: dashboard users of the organization, or anyone. */
export const SANDBOX_LOGINS = ['members', 'anyone'] as const;
export type SandboxLogin = (typeof SANDBOX_LOGINS)[number];

/** The settings of an API client for agents that log in. Without a row, the defaults of the environment apply. */
@Entity({ name: 'agent_setting' })
export class AgentSetting {
  @PrimaryColumn({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ type: 'varchar', length: 5 })
  agents!: AllowedAgents;

  @Column({ type: 'text', array: true })
  hosts!: string[];

  /** Where users log in; null if they type a connection code instead. */
  @Column({ name: 'login_url', type: 'text', nullable: true })
  loginUrl!: string | null;

  /** Hosts that sign-in links may return users to. */
  @Column({ name: 'return_hosts', type: 'text', array: true, default: () => "'{}'" })
  returnHosts!: string[];

  @Column({ name: 'sandbox_login', type: 'varchar', length: 7, default: 'members' })
  sandboxLogin!: SandboxLogin;

  @Column({ name: 'updated_at', type: 'timestamptz', precision: 3 })
  updatedAt!: Date;
}
