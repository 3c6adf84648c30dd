import { Injectable } from '@nestjs/common';
import { QueryTimeout, ReadPools, type ReadPool } from '../../../infrastructure/database/index.js';
import { REQUEST_LOG_QUERY_TIMEOUT } from '../request-log-errors.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';

/** The connections for queries of the request log and of events, which users can make slow. */
@Injectable()
export class LogReads {
  private readonly pool: ReadPool;

  constructor(pools: ReadPools, configuration: RequestLogsConfiguration) {
    this.pool = pools.open('request-logs', {
      connections: configuration.readConnections,
      timeoutMilliseconds: configuration.queryTimeoutMilliseconds,
    });
  }

  /** @throws ApiError REQUEST_LOG_QUERY_TIMEOUT if the query exceeds the configured timeout */
  async query<Row extends object>(
    statement: string,
    parameters: readonly unknown[],
    timeoutMessage?: string,
  ): Promise<Row[]> {
    try {
      return await this.pool.query<Row>(statement, parameters);
    } catch (error) {
      throw error instanceof QueryTimeout ? REQUEST_LOG_QUERY_TIMEOUT.error(timeoutMessage) : error;
    }
  }
}
