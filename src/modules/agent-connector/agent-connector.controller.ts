import { Controller, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ConnectorRoute } from '../../infrastructure/surfaces/index.js';
import { AgentConnectorService } from './agent-connector.service.js';

@Controller()
export class AgentConnectorController {
  constructor(private readonly connector: AgentConnectorService) {}

  @Post('mcp')
  @ConnectorRoute()
  serve(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.connector.serve(request, response);
  }
}
