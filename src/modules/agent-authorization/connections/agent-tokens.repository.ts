import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { AgentRefreshToken } from './agent-refresh-token.entity.js';

/** An access token that may still be valid. */
export type IssuedAccessToken = Pick<AgentRefreshToken, 'accessTokenHash' | 'createdAt'>;

/** Finds single tokens of connections. The statements that issue them are in `agent-tokens.batch.ts`. */
@Injectable()
export class AgentTokensRepository {
  constructor(private readonly transaction: Transaction) {}

  find(tokenHash: Buffer): Promise<AgentRefreshToken | null> {
    return this.transaction.manager.findOneBy(AgentRefreshToken, { tokenHash });
  }

  findByAccessToken(accessTokenHash: Buffer): Promise<AgentRefreshToken | null> {
    return this.transaction.manager.findOneBy(AgentRefreshToken, { accessTokenHash });
  }

  /** Returns the access tokens of a connection that have not expired. */
  findAccessTokens(connectionId: string, now: Date): Promise<IssuedAccessToken[]> {
    return this.transaction.manager
      .createQueryBuilder(AgentRefreshToken, 'token')
      .select(['token.tokenHash', 'token.accessTokenHash', 'token.createdAt'])
      .where({ connectionId })
      .andWhere('token.accessExpiresAt > :now', { now })
      .getMany();
  }
}
