import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import {
  CREATE_AGENT,
  DELETE_AGENT,
  GET_AGENT_SETTINGS,
  UPDATE_AGENT_SETTINGS,
} from './agent-settings.docs.js';
import {
  CreateAgentRequest,
  GetAgentSettingsQuery,
  UpdateAgentSettingsRequest,
  type AgentResponse,
  type AgentSettingsResponse,
} from './agent-settings.dto.js';
import { AgentSettingsService } from './agent-settings.service.js';

@Topic('Agent connections')
@Controller()
export class AgentSettingsController {
  constructor(private readonly settings: AgentSettingsService) {}

  @Get('agent-settings')
  @DashboardOperation(GET_AGENT_SETTINGS)
  get(
    @CurrentActor() actor: DashboardActor,
    @Query() { environment }: GetAgentSettingsQuery,
  ): Promise<AgentSettingsResponse> {
    return this.settings.get(actor, environment);
  }

  @Post('agent-settings/update')
  @DashboardOperation(UPDATE_AGENT_SETTINGS)
  update(
    @CurrentActor() actor: DashboardActor,
    @Body() request: UpdateAgentSettingsRequest,
  ): Promise<AgentSettingsResponse> {
    return this.settings.update(actor, request);
  }

  @Post('agents/create')
  @DashboardOperation(CREATE_AGENT)
  create(@CurrentActor() actor: DashboardActor, @Body() request: CreateAgentRequest): Promise<AgentResponse> {
    return this.settings.register(actor, request);
  }

  @Delete('agents/:id')
  @DashboardOperation(DELETE_AGENT)
  remove(@CurrentActor() actor: DashboardActor, @Param('id') id: string): Promise<AgentResponse> {
    return this.settings.remove(actor, id);
  }
}
