import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HealthCheckService, TypeOrmHealthIndicator, type HealthCheckResult } from '@nestjs/terminus';
import { SERVICE_UNAVAILABLE } from '../../infrastructure/errors/index.js';

/** Milliseconds within which the database must answer. */
const DATABASE_TIMEOUT = 1_000;
/** Seconds. */
const RETRY_AFTER = 5;

/** Whether the process can do its work: not while it stops, and not without the database. */
@Injectable()
export class Readiness implements OnModuleDestroy {
  private stopping = false;

  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
  ) {}

  onModuleDestroy(): void {
    this.stopping = true;
  }

  /** @throws ApiError SERVICE_UNAVAILABLE when it cannot */
  async check(): Promise<HealthCheckResult> {
    if (this.stopping) throw SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
    try {
      return await this.health.check([
        () => this.database.pingCheck('database', { timeout: DATABASE_TIMEOUT }),
      ]);
    } catch {
      throw SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
    }
  }
}
