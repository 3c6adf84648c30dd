import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
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
  ready(): ReturnType<Readiness['check']> {
    return this.readiness.check();
  }
}
