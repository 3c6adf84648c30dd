import { All, Controller, Req, Res } from '@nestjs/common';
import { AcceptSlashAtEnd } from '../../infrastructure/http/index.js';
import type { Request, Response } from 'express';
import { ConnectorRoute } from '../../infrastructure/surfaces/index.js';
import { AgentConnectorService } from './agent-connector.service.js';

@Controller()
export class AgentConnectorController {
  constructor(private readonly connector: AgentConnectorService) {}

  /**
   * With `client_id`, the address of the agents of one API client, where they can log in. `JsonRpcMessageGuard` refuses other methods
   * than POST.
   */
  @All(['mcp', 'mcp/:client_id'])
  @AcceptSlashAtEnd()
  @ConnectorRoute()
  serve(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.connector.serve(request, response);
  }
}
