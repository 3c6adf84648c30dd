import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { AccessGrantResponse, CreateAccessGrantRequest } from './access-grants.dto.js';
import { AccessGrantsService } from './access-grants.service.js';
import { LIST_ACCESS_GRANTS, CREATE_ACCESS_GRANT, REVOKE_ACCESS_GRANT } from './access-grants.docs.js';

@Topic('Access grants', 'Higher roles for a limited time. Requires a login.')
@Controller()
export class AccessGrantsController {
  constructor(private readonly grants: AccessGrantsService) {}

  @Get('access-grants')
  @DashboardOperation(LIST_ACCESS_GRANTS)
  list(@CurrentActor() actor: DashboardActor): Promise<AccessGrantResponse[]> {
    return this.grants.list(actor);
  }

  @Post('access-grants/create')
  @DashboardOperation(CREATE_ACCESS_GRANT)
  create(
    @CurrentActor() actor: DashboardActor,
    @Body() request: CreateAccessGrantRequest,
  ): Promise<AccessGrantResponse> {
    return this.grants.create(actor, request);
  }

  @Post('access-grants/:id/revoke')
  @DashboardOperation(REVOKE_ACCESS_GRANT)
  revoke(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<AccessGrantResponse> {
    return this.grants.revoke(actor, id);
  }
}
