import { Body, Controller, Post } from '@nestjs/common';
import {
  CurrentClient,
  EnvironmentGuard,
  type AuthenticatedClient,
} from '../../infrastructure/auth/index.js';
import { NO_ACCESS } from '../../infrastructure/errors/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { DetectAccountsRequest } from '../detected-accounts/index.js';
import {
  DETECT_ACCOUNTS,
  DEVELOPMENT_ONLY,
  DISCONNECT_ACCOUNT,
  DisconnectAccountRequest,
  LINK_ACCOUNT,
  LinkAccountRequest,
  LinkedAccountResponse,
  PublishedEventResponse,
  TRIGGER_WEBHOOK,
  TriggeredWebhookResponse,
  TriggerWebhookRequest,
} from './sandbox.dto.js';
import { SandboxService } from './sandbox.service.js';

const GUARDS = [EnvironmentGuard('development', NO_ACCESS, DEVELOPMENT_ONLY)];

@Topic(
  'Sandbox',
  'Simulates merchants and users. Requires development credentials; nothing real is affected.',
  90,
)
@Controller('development')
export class SandboxController {
  constructor(private readonly sandbox: SandboxService) {}

  @Post('accounts/link')
  @PlatformOperation(LINK_ACCOUNT, 'sandbox:write', { guards: GUARDS })
  link(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: LinkAccountRequest,
  ): Promise<LinkedAccountResponse> {
    return this.sandbox.link(client, request);
  }

  @Post('accounts/disconnect')
  @PlatformOperation(DISCONNECT_ACCOUNT, 'sandbox:write', { guards: GUARDS })
  disconnect(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: DisconnectAccountRequest,
  ): Promise<PublishedEventResponse> {
    return this.sandbox.disconnect(client, request);
  }

  @Post('detected-accounts')
  @PlatformOperation(DETECT_ACCOUNTS, 'sandbox:write', { guards: GUARDS })
  detect(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: DetectAccountsRequest,
  ): Promise<PublishedEventResponse> {
    return this.sandbox.detect(client, request);
  }

  @Post('webhooks/trigger')
  @PlatformOperation(TRIGGER_WEBHOOK, 'sandbox:write', { guards: GUARDS })
  trigger(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: TriggerWebhookRequest,
  ): Promise<TriggeredWebhookResponse> {
    return this.sandbox.trigger(client, request);
  }
}
