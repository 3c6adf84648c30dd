import { Body, Controller, Get, Param, Patch, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import {
  ApiClientResponse,
  ApiSecretResponse,
  RotateSecretRequest,
  UpdateClientRequest,
} from './api-clients.dto.js';
import { ApiClientsService } from './api-clients.service.js';
import {
  LIST_CLIENTS,
  UPDATE_CLIENT,
  VIEW_SECRET,
  ROTATE_SECRET,
  ACTIVATE_SECRET,
} from './api-clients.docs.js';

@Topic('API clients', 'Credentials for the platform API and their rotation. Requires a login.')
@Controller()
export class ApiClientsController {
  constructor(private readonly clients: ApiClientsService) {}

  @Get('api-clients')
  @DashboardOperation(LIST_CLIENTS)
  list(@CurrentActor() actor: DashboardActor): Promise<ApiClientResponse[]> {
    return this.clients.listForUser(actor);
  }

  @Patch('api-clients/:client_id')
  @DashboardOperation(UPDATE_CLIENT)
  update(
    @CurrentActor() actor: DashboardActor,
    @Param('client_id') clientId: string,
    @Body() request: UpdateClientRequest,
  ): Promise<ApiClientResponse> {
    return this.clients.rename(actor, clientId, request.name);
  }

  @Post('api-clients/:client_id/secret/view')
  @DashboardOperation(VIEW_SECRET)
  view(
    @CurrentActor() actor: DashboardActor,
    @Param('client_id') clientId: string,
  ): Promise<ApiSecretResponse> {
    return this.clients.view(actor, clientId);
  }

  @Post('api-clients/:client_id/secret/rotate')
  @DashboardOperation(ROTATE_SECRET)
  rotate(
    @CurrentActor() actor: DashboardActor,
    @Param('client_id') clientId: string,
    @Body() request: RotateSecretRequest,
  ): Promise<ApiSecretResponse> {
    return this.clients.rotateSecretForUser(actor, clientId, request.overlap_hours);
  }

  @Post('api-clients/:client_id/secret/activate')
  @DashboardOperation(ACTIVATE_SECRET)
  activate(
    @CurrentActor() actor: DashboardActor,
    @Param('client_id') clientId: string,
  ): Promise<ApiClientResponse> {
    return this.clients.activateSecretForUser(actor, clientId);
  }
}
