import { And, Column, Entity, In, Raw, type FindOperator } from 'typeorm';
import { DatedRow, DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY, HOUR } from '../../../infrastructure/time/index.js';

/** The connection of an agent does not wait for the row of the agent, so `unused_since` may still be set although it is connected. */
const IS_UNCONNECTED = `NOT EXISTS (
  SELECT FROM agent_connection
   WHERE agent_connection.client_id = registered_agent.client_id AND agent_id = registered_agent.id::text AND ended_at IS NULL)`;

/** Returns the condition for the IDs of those agents that no user has connected. To be used in a deletion. */
export function unconnectedAmong(ids: readonly string[]): FindOperator<string> {
  return And(
    In(ids),
    Raw<string>(() => IS_UNCONNECTED),
  );
}

/** An agent that has no client ID metadata document: it registered itself (RFC 7591), or an owner registered it. */
@Entity({ name: 'registered_agent' })
export class RegisteredAgent extends DatedRow {
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ type: 'varchar', length: 10 })
  kind!: 'dynamic' | 'registered';

  @Column({ type: 'varchar', length: 200 })
  name!: string;

  @Column({ name: 'redirect_uris', type: 'text', array: true })
  redirectUris!: string[];

  /**
   * Null once a user has connected the agent, and for agents that an owner registered. An hour more than announced, so that users who
   * began to log in within the day can finish. In the future once a user has opened the page of the agent, which keeps its `client_id`.
   */
  @DeleteAfter(DAY + HOUR, IS_UNCONNECTED)
  @Column({ name: 'unused_since', type: 'timestamptz', precision: 3, nullable: true })
  unusedSince!: Date | null;
}
