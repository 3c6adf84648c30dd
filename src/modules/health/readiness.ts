import { Injectable } from '@nestjs/common';
import { HealthCheckService, HealthIndicatorService, type HealthCheckResult } from '@nestjs/terminus';
import { DatabaseProbe } from '../../infrastructure/database/index.js';
import { SERVICE_UNAVAILABLE } from '../../infrastructure/errors/index.js';
import { Failures, GracefulShutdown, Startup } from '../../infrastructure/http/index.js';
import { VERSION } from '../../infrastructure/project-files/index.js';

/** Milliseconds within which the database must respond. */
const DATABASE_TIMEOUT = 1_000;
/** Milliseconds for which a refusal by the database counts. After that, the process tries to serve requests again. */
const REFUSAL_TIME = 5_000;
/** Seconds. */
const RETRY_AFTER = 5;

/**
 * Checks whether the process can serve requests: not while it starts or stops, and not without a database that accepts writes.
 * A ping does not show everything, such as a full disk or a new password, so a request that failed for such a reason counts, too.
 */
@Injectable()
export class Readiness {
  constructor(
    private readonly health: HealthCheckService,
    private readonly startup: Startup,
    private readonly shutdown: GracefulShutdown,
    private readonly indicator: HealthIndicatorService,
    private readonly failures: Failures,
    private readonly database: DatabaseProbe,
  ) {}

  /** @throws ApiError SERVICE_UNAVAILABLE if the process cannot serve requests */
  async check(): Promise<HealthCheckResult & { readonly version: string }> {
    const isRefused = performance.now() - this.failures.refusedAt < REFUSAL_TIME;
    const isServing = !this.startup.isRunning && !this.shutdown.isShuttingDown && !isRefused;
    const ping = () =>
      this.indicator
        .check('database')
        .attempt(() => this.database.acceptsWrites())
        .withTimeout(DATABASE_TIMEOUT);
    const result = isServing && (await this.health.check([ping]).catch(() => undefined));
    if (!result) throw SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
    return { ...result, version: VERSION };
  }
}
