import { Controller, Get, type OnModuleDestroy } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { HealthCheckService, TypeOrmHealthIndicator, type HealthCheckResult } from '@nestjs/terminus';
import { SERVICE_UNAVAILABLE } from '../../infrastructure/errors/index.js';

/** Milliseconds within which the database must answer. */
const DATABASE_TIMEOUT = 1_000;
/** Seconds. */
const RETRY_AFTER = 5;

/** For load balancers and orchestrators, not for integrators. */
@ApiExcludeController()
@Controller()
export class HealthController implements OnModuleDestroy {
  private stopping = false;

  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
  ) {}

  onModuleDestroy(): void {
    this.stopping = true;
  }

  /** The process is alive; says nothing of what it depends on. */
  @Get('healthz')
  alive(): { status: string } {
    return { status: 'ok' };
  }

  /** The process can do its work: send it requests. */
  @Get('readyz')
  async ready(): Promise<HealthCheckResult> {
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
