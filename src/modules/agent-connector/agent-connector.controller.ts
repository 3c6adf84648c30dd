import { Controller, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ConnectorRoute } from '../../infrastructure/surfaces/index.js';
import { AgentConnectorService } from './agent-connector.service.js';

@Controller()
export class AgentConnectorController {
  constructor(private readonly connector: AgentConnectorService) {}

  /** With `client_id`, the address of the agents of one API client, where they can log in. */
  @Post(['mcp', 'mcp/:client_id'])
  @ConnectorRoute()
  serve(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.connector.serve(request, response);
  }
}
