import { Column, Entity } from 'typeorm';
import { DatedRow, DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY, HOUR } from '../../../infrastructure/time/index.js';

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
  @DeleteAfter(DAY + HOUR)
  @Column({ name: 'unused_since', type: 'timestamptz', precision: 3, nullable: true })
  unusedSince!: Date | null;
}
