import { Injectable } from '@nestjs/common';
import { HealthCheckService, TypeOrmHealthIndicator, type HealthCheckResult } from '@nestjs/terminus';
import { SERVICE_UNAVAILABLE } from '../../infrastructure/errors/index.js';
import { GracefulShutdown, Startup } from '../../infrastructure/http/index.js';

/** Milliseconds within which the database must respond. */
const DATABASE_TIMEOUT = 1_000;
/** Seconds. */
const RETRY_AFTER = 5;

/** Checks whether the process can serve requests: not while it starts or stops, and not without the database. */
@Injectable()
export class Readiness {
  constructor(
    private readonly health: HealthCheckService,
    private readonly startup: Startup,
    private readonly shutdown: GracefulShutdown,
    private readonly database: TypeOrmHealthIndicator,
  ) {}

  /** @throws ApiError SERVICE_UNAVAILABLE if the process cannot serve requests */
  async check(): Promise<HealthCheckResult> {
    const isServing = !this.startup.isRunning && !this.shutdown.isShuttingDown;
    const ping = () => this.database.pingCheck('database', { timeout: DATABASE_TIMEOUT });
    const result = isServing && (await this.health.check([ping]).catch(() => undefined));
    if (!result) throw SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
    return result;
  }
}
