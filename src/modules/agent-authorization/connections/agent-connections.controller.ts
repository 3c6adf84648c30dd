import { Controller, Delete, Get, Param, Query } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import {
  Attribution,
  Origin,
  type RequestAttribution,
  type RequestOrigin,
} from '../../../infrastructure/http/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../../infrastructure/surfaces/index.js';
import { actorOf } from '../../audit-logs/index.js';
import {
  DISCONNECT_AGENT,
  LIST_AGENT_CONNECTIONS,
  ListAgentConnectionsQuery,
  type AgentConnectionListResponse,
  type AgentConnectionResponse,
} from './agent-connections.dto.js';
import { AgentConnectionsService } from './agent-connections.service.js';

@Topic('Agent connections', 'Agents that your users have connected by logging in.', 60)
@Controller('agent-connections')
export class AgentConnectionsController {
  constructor(private readonly connections: AgentConnectionsService) {}

  @Get()
  @PlatformOperation(LIST_AGENT_CONNECTIONS, 'agents:read')
  list(
    @CurrentClient() client: AuthenticatedClient,
    @Query() query: ListAgentConnectionsQuery,
    @Attribution() attribution: RequestAttribution,
  ): Promise<AgentConnectionListResponse> {
    return this.connections.list(client, query, attribution);
  }

  @Delete(':id')
  @PlatformOperation(DISCONNECT_AGENT, 'agents:write')
  disconnect(
    @CurrentClient() client: AuthenticatedClient,
    @Param('id') id: string,
    @Origin() origin: RequestOrigin,
  ): Promise<AgentConnectionResponse> {
    return this.connections.disconnect(client, id, actorOf(client, origin));
  }
}
