import { Injectable } from '@nestjs/common';
import { HealthCheckService, TypeOrmHealthIndicator, type HealthCheckResult } from '@nestjs/terminus';
import { SERVICE_UNAVAILABLE } from '../../infrastructure/errors/index.js';
import { Drain } from '../../infrastructure/http/index.js';

/** Milliseconds within which the database must answer. */
const DATABASE_TIMEOUT = 1_000;
/** Seconds. */
const RETRY_AFTER = 5;

/** Whether the process can do its work: not while it stops, and not without the database. */
@Injectable()
export class Readiness {
  constructor(
    private readonly health: HealthCheckService,
    private readonly drain: Drain,
    private readonly database: TypeOrmHealthIndicator,
  ) {}

  /** @throws ApiError SERVICE_UNAVAILABLE when it cannot */
  async check(): Promise<HealthCheckResult> {
    if (this.drain.hasBegun) throw SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
    try {
      return await this.health.check([
        () => this.database.pingCheck('database', { timeout: DATABASE_TIMEOUT }),
      ]);
    } catch {
      throw SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
    }
  }
}
