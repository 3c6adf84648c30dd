import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { HealthCheckResult } from '@nestjs/terminus';
import { Readiness } from './readiness.js';

/** For load balancers and orchestrators, not for integrators. */
@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** The process is alive; says nothing of what it depends on. */
  @Get('healthz')
  alive(): { status: string } {
    return { status: 'ok' };
  }

  /** The process can do its work: send it requests. */
  @Get('readyz')
  ready(): Promise<HealthCheckResult> {
    return this.readiness.check();
  }
}
