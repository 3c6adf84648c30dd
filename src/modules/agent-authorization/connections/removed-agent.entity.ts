import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DueSince } from '../../../infrastructure/database/index.js';
import type { ConnectionEnd } from './agent-connection.entity.js';

/** A registered agent that was removed. The tokens of its connections are refused, until `AgentRemovalsJob` has ended all of them. */
@Entity({ name: 'removed_agent' })
export class RemovedAgent {
  @PrimaryColumn({ name: 'agent_id', type: 'text' })
  agentId!: string;

  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @DueSince('agent_removals')
  @Column({ name: 'removed_at', type: 'timestamptz', precision: 3 })
  removedAt!: Date;

  /** How its connections end. */
  @Column({ name: 'removed_by', type: 'jsonb' })
  removedBy!: ConnectionEnd;
}
