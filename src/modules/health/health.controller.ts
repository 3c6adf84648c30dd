import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { HealthCheckResult } from '@nestjs/terminus';
import { Readiness } from './readiness.js';

/** For load balancers and orchestrators, not for integrators. */
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** Reports that the process is alive, whatever the state of its dependencies. */
  @Get('healthz')
  alive(): { status: string } {
    return { status: 'ok' };
  }

  @Get('readyz')
  ready(): Promise<HealthCheckResult> {
    return this.readiness.check();
  }
}
