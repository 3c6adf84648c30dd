import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  BatchedStatement,
  inPositions,
  retryInNewPartition,
  Statement,
  Transaction,
  Transactional,
  type Positioned,
} from '../../../infrastructure/database/index.js';
import { SERVICE_UNAVAILABLE } from '../../../infrastructure/errors/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { McpTokensBatch, type NewAgentToken } from '../../mcp-tokens/index.js';
import { WebhookPublisher, type PublishRequest } from '../../webhooks/index.js';
import type { AgentAuthorization } from '../authorizations/agent-authorization.entity.js';
import type { AgentConnection, AgentRefreshToken } from './agent-connection.entity.js';

/** The connection that a refresh token belongs to, and when the token was exchanged for the next one. */
export type RefreshedConnection = Omit<AgentConnection, 'createdAt' | 'usedAt' | 'endedAt' | 'endedBy'> &
  Pick<AgentRefreshToken, 'rotatedAt'> & {
    /** Whether the agent was removed. The connection may not have ended yet. */
    readonly isRemoved: boolean;
  };

export type CodeAuthorization = Pick<
  AgentAuthorization,
  | 'id'
  | 'clientId'
  | 'agentId'
  | 'agentName'
  | 'status'
  | 'redirectUri'
  | 'codeChallenge'
  | 'externalUserId'
  | 'phoneNumberSealed'
  | 'scopes'
>;

export interface NewTokens {
  readonly refreshTokenHash: Buffer;
  readonly access: NewAgentToken;
}

export interface Rotation extends NewTokens {
  readonly presentedHash: Buffer;
  /** When the connection expires unless it is used again. */
  readonly expiresAt: Date;
}

export interface Redemption extends NewTokens {
  readonly authorizationId: string;
  readonly client: ClientRecord;
  readonly agentName: string;
  readonly agentHost: string;
  /** Null for an agent with a metadata document. */
  readonly registeredAgentId: string | null;
  readonly phoneNumberSealed: Buffer | null;
  readonly expiresAt: Date;
}

interface Hashed {
  readonly hash: Buffer;
}

/** A row of the statements below. */
interface TokensItem {
  readonly tokenHash: Buffer;
  readonly connectionId: string;
  readonly scope: string;
  readonly accessTokenHash: Buffer;
  readonly createdAt: Date;
  readonly accessExpiresAt: Date;
  readonly expiresAt: Date;
}

/** `locked`: another transaction is changing the connection or the authorization, so nothing was done. */
interface Outcome extends Positioned {
  readonly outcome: 'stored' | 'refused' | 'locked';
}

const BATCH = { maxRows: 100, maxStatements: 2 };
const EXCHANGE_BATCH = { ...BATCH, retryAfter: retryInNewPartition };
/** One row is usual. Connections of earlier releases have thousands. */
const ROWS_PER_PRUNING = 1_000;

/** Milliseconds before a request that found a lock is retried: at first, and in total. */
const FIRST_PAUSE = 10;
const MAX_PAUSES = 5 * SECOND;
/** Seconds. */
const RETRY_AFTER = 1;

// Only keys are compared here, and rows that change are also selected with ANY, for which PostgreSQL uses the index: it plans these
// statements once, perhaps while the tables are new and have no statistics. It would read all connections of a client if a condition
// named the client.
const FIND_CONNECTIONS = new Statement<object, RefreshedConnection & Positioned, Hashed>(`
  SELECT position::integer, connection.id, client_id AS "clientId", external_user_id AS "externalUserId",
         phone_number_sealed AS "phoneNumberSealed", agent_id AS "agentId", agent_name AS "agentName",
         agent_host AS "agentHost", connection.scopes, expires_at AS "expiresAt", rotated_at AS "rotatedAt",
         EXISTS (SELECT FROM removed_agent removed WHERE removed.agent_id = connection.agent_id) AS "isRemoved"
    FROM unnest($hash::bytea[]) WITH ORDINALITY AS item (token_hash, position)
    JOIN agent_refresh_token token USING (token_hash)
    JOIN agent_connection connection ON connection.id = token.connection_id
   WHERE token_hash = ANY ($hash)`);

const FIND_AUTHORIZATIONS = new Statement<object, CodeAuthorization & Positioned, Hashed>(`
  SELECT position::integer, id, client_id AS "clientId", agent_id AS "agentId", agent_name AS "agentName", status,
         redirect_uri AS "redirectUri", code_challenge AS "codeChallenge", external_user_id AS "externalUserId",
         phone_number_sealed AS "phoneNumberSealed", scopes
    FROM unnest($hash::bytea[]) WITH ORDINALITY AS item (code_hash, position)
    JOIN agent_authorization USING (code_hash)
   WHERE code_hash = ANY ($hash)`);

const INSERT_TOKENS = `
  INSERT INTO agent_refresh_token (token_hash, connection_id, scopes, access_token_hash, created_at, access_expires_at)
  SELECT token_hash, connection_id, string_to_array(scope, ' '), access_token_hash, created_at, access_expires_at`;

/**
 * Uses up refresh tokens. Locks their connections, so that these cannot end before the transaction does. If several items present
 * the same token, one of them succeeds. Of the tokens that were rotated more than a minute ago, only the last one of a connection is
 * kept: the successor of each other one was used so long ago that nobody may repeat its request.
 */
const ROTATE = new Statement<object, Outcome, TokensItem & Pick<Rotation, 'presentedHash'>>(`
  WITH item AS MATERIALIZED (
         SELECT *
           FROM unnest($presentedHash::bytea[], $connectionId::uuid[], $expiresAt::timestamptz[], $tokenHash::bytea[],
                       $scope::text[], $accessTokenHash::bytea[], $createdAt::timestamptz[], $accessExpiresAt::timestamptz[])
                WITH ORDINALITY
                AS item (presented_hash, connection_id, expires_at, token_hash,
                         scope, access_token_hash, created_at, access_expires_at, position)),
       locked AS MATERIALIZED (
         SELECT id, ended_at, expires_at FROM agent_connection
          WHERE id = ANY (ARRAY(SELECT connection_id FROM item)) FOR UPDATE SKIP LOCKED),
       renewed AS (
         UPDATE agent_connection connection SET used_at = item.created_at, expires_at = item.expires_at
           FROM item JOIN locked ON locked.id = item.connection_id
          WHERE connection.id = item.connection_id AND connection.id = ANY (ARRAY(SELECT id FROM locked))
            AND locked.ended_at IS NULL AND locked.expires_at > item.created_at
         RETURNING connection.id),
       stored AS (
         UPDATE agent_refresh_token token SET rotated_at = item.created_at
           FROM item JOIN renewed ON renewed.id = item.connection_id
          WHERE token.token_hash = item.presented_hash AND token.token_hash = ANY ($presentedHash) AND rotated_at IS NULL
         RETURNING item.*),
       inserted AS (${INSERT_TOKENS} FROM stored),
       horizon AS MATERIALIZED (
         SELECT connection_id, (
                  SELECT max(rotated_at) FROM agent_refresh_token token
                   WHERE token.connection_id = stored.connection_id AND rotated_at < created_at_of_next - interval '1 minute') AS rotated_before
           FROM (SELECT connection_id, max(created_at) AS created_at_of_next FROM stored GROUP BY connection_id) stored),
       pruned AS (
         DELETE FROM agent_refresh_token WHERE token_hash = ANY (ARRAY(
           SELECT token_hash FROM horizon CROSS JOIN LATERAL (
             SELECT token_hash FROM agent_refresh_token token
              WHERE token.connection_id = horizon.connection_id AND rotated_at < rotated_before LIMIT ${ROWS_PER_PRUNING}) old)))
  SELECT item.position::integer,
         CASE WHEN stored.position IS NOT NULL THEN 'stored'
              WHEN locked.id IS NULL AND EXISTS (SELECT FROM agent_connection WHERE id = item.connection_id) THEN 'locked'
              ELSE 'refused' END AS outcome
    FROM item
    LEFT JOIN stored USING (position)
    LEFT JOIN locked ON locked.id = item.connection_id`);

/**
 * Uses up codes and creates connections. A used code is kept as long as its connection can be without being used, so that a second
 * use is noticed, but not what only its redirect needed. A registered agent is kept from its first connection on. Those that follow do not change
 * its row, because they would wait for each other's commits, but keep it from being removed until they commit.
 */
const REDEEM = new Statement<
  object,
  Outcome,
  TokensItem & Pick<Redemption, 'authorizationId' | 'registeredAgentId' | 'agentHost' | 'phoneNumberSealed'>
>(`
  WITH item AS MATERIALIZED (
         SELECT *
           FROM unnest($authorizationId::uuid[], $registeredAgentId::uuid[], $agentHost::text[], $phoneNumberSealed::bytea[],
                       $connectionId::uuid[], $expiresAt::timestamptz[], $tokenHash::bytea[],
                       $scope::text[], $accessTokenHash::bytea[], $createdAt::timestamptz[], $accessExpiresAt::timestamptz[])
                WITH ORDINALITY
                AS item (authorization_id, registered_agent_id, agent_host, phone_number,
                         connection_id, expires_at, token_hash,
                         scope, access_token_hash, created_at, access_expires_at, position)),
       locked AS MATERIALIZED (
         SELECT id, status, code_expires_at FROM agent_authorization
          WHERE id = ANY (ARRAY(SELECT authorization_id FROM item)) FOR UPDATE SKIP LOCKED),
       stored AS (
         UPDATE agent_authorization SET status = 'redeemed', connection_id = item.connection_id, expires_at = item.expires_at,
                                        state = NULL, phone_number_sealed = NULL
           FROM item JOIN locked ON locked.id = item.authorization_id
          WHERE agent_authorization.id = item.authorization_id AND agent_authorization.id = ANY (ARRAY(SELECT id FROM locked))
            AND locked.status = 'approved' AND locked.code_expires_at > item.created_at
            AND (registered_agent_id IS NULL
                 OR EXISTS (SELECT FROM registered_agent WHERE registered_agent.id = registered_agent_id
                               FOR KEY SHARE SKIP LOCKED))
         RETURNING item.*, client_id, external_user_id, agent_id, agent_name, scopes),
       used AS (
         UPDATE registered_agent SET unused_since = NULL
          WHERE id IN (SELECT id FROM registered_agent
                        WHERE id = ANY (ARRAY(SELECT registered_agent_id FROM stored)) AND unused_since IS NOT NULL
                          FOR NO KEY UPDATE SKIP LOCKED)),
       connected AS (
         INSERT INTO agent_connection (id, client_id, external_user_id, phone_number_sealed, agent_id, agent_name, agent_host,
                                       scopes, created_at, used_at, expires_at)
         SELECT connection_id, client_id, external_user_id, phone_number, agent_id, agent_name, agent_host,
                scopes, created_at, created_at, expires_at
           FROM stored),
       inserted AS (${INSERT_TOKENS} FROM stored)
  SELECT item.position::integer,
         CASE WHEN stored.position IS NOT NULL THEN 'stored'
              WHEN locked.id IS NULL AND EXISTS (SELECT FROM agent_authorization WHERE id = item.authorization_id) THEN 'locked'
              ELSE 'refused' END AS outcome
    FROM item
    LEFT JOIN stored USING (position)
    LEFT JOIN locked ON locked.id = item.authorization_id`);

/**
 * Exchanges the codes and refresh tokens of concurrent requests in one transaction. These transactions serve the requests of several
 * API clients, so they must not be requested within another transaction, and they never wait for the lock of a row. A request that
 * finds its row locked is retried. For measurements, see docs/decisions/0002-batched-statements.md.
 */
@Injectable()
export class AgentTokensBatch {
  /** Returns the connection of a refresh token, which may have ended or expired. */
  readonly connections = this.lookups(FIND_CONNECTIONS);
  /** Returns the authorization of a code, in any state. */
  readonly authorizations = this.lookups(FIND_AUTHORIZATIONS);
  private readonly rotations = new BatchedStatement<Rotation, Outcome['outcome']>({
    ...EXCHANGE_BATCH,
    execute: (rotations) => this.rotateAll(rotations),
  });
  private readonly redemptions = new BatchedStatement<Redemption, Outcome['outcome']>({
    ...EXCHANGE_BATCH,
    execute: (redemptions) => this.redeemAll(redemptions),
  });

  constructor(
    private readonly transaction: Transaction,
    private readonly mcpTokens: McpTokensBatch,
    private readonly publisher: WebhookPublisher,
  ) {}

  /** Exchanges a refresh token for the next one. @returns false if another request has used it before, or the connection ended */
  rotate(rotation: Rotation): Promise<boolean> {
    return untilUnlocked(() => this.rotations.add(rotation));
  }

  /**
   * Exchanges a code for a connection, and publishes its event.
   *
   * @returns false if the code has expired, another request has used it before, or the agent is no longer registered
   */
  redeem(redemption: Redemption): Promise<boolean> {
    return untilUnlocked(() => this.redemptions.add(redemption));
  }

  @Transactional()
  protected async rotateAll(rotations: readonly Rotation[]): Promise<Outcome['outcome'][]> {
    const items = rotations.map((rotation) => ({ ...rotation, ...itemOf(rotation) }));
    const outcomes = outcomesOf(rotations, await ROTATE.run(this.transaction.manager, {}, items));
    await this.addAccessTokens(rotations.filter((_, index) => outcomes[index] === 'stored'));
    return outcomes;
  }

  @Transactional()
  protected async redeemAll(redemptions: readonly Redemption[]): Promise<Outcome['outcome'][]> {
    const items = redemptions.map((redemption) => ({ ...redemption, ...itemOf(redemption) }));
    const outcomes = outcomesOf(redemptions, await REDEEM.run(this.transaction.manager, {}, items));
    const redeemed = redemptions.filter((_, index) => outcomes[index] === 'stored');
    await this.addAccessTokens(redeemed);
    if (redeemed.length > 0) await this.publisher.publishAll(redeemed.map(connectedEvent));
    return outcomes;
  }

  private lookups<Row extends Positioned>(find: Statement<object, Row, Hashed>) {
    return new BatchedStatement<Buffer, Row | undefined>({
      ...BATCH,
      execute: async (hashes) => {
        const items = hashes.map((hash) => ({ hash }));
        return inPositions(hashes, await find.run(this.transaction.manager, {}, items));
      },
      isRepeatable: true,
    });
  }

  private async addAccessTokens(tokens: readonly NewTokens[]): Promise<void> {
    if (tokens.length > 0) await this.mcpTokens.addAll(tokens.map(({ access }) => access));
  }
}

/**
 * Repeats an exchange while its row is locked.
 *
 * @returns whether the tokens were stored
 * @throws ApiError SERVICE_UNAVAILABLE if the row is locked for five seconds
 */
async function untilUnlocked(exchange: () => Promise<Outcome['outcome']>): Promise<boolean> {
  for (let waited = 0, next = FIRST_PAUSE; ; waited += next, next *= 2) {
    const outcome = await exchange();
    if (outcome !== 'locked') return outcome === 'stored';
    if (waited >= MAX_PAUSES) throw SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
    await pause(next);
  }
}

function itemOf({ refreshTokenHash, access, expiresAt }: Rotation | Redemption): TokensItem {
  return {
    tokenHash: refreshTokenHash,
    connectionId: access.connectionId,
    scope: access.scope,
    accessTokenHash: access.tokenHash,
    createdAt: access.createdAt,
    accessExpiresAt: access.expiresAt,
    expiresAt,
  };
}

function outcomesOf(requests: readonly NewTokens[], rows: readonly Outcome[]): Outcome['outcome'][] {
  return inPositions(requests, rows).map((row) => row?.outcome ?? 'refused');
}

function connectedEvent({ client, access, agentName, agentHost }: Redemption): PublishRequest {
  return {
    client,
    event: {
      event: 'AGENT_CONNECTED',
      externalUserId: access.externalUserId,
      data: { connection_id: access.connectionId, agent: { name: agentName, host: agentHost } },
    },
  };
}
