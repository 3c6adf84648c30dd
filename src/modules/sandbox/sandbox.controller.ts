import { Controller, Post } from '@nestjs/common';
import {
  CurrentClient,
  EnvironmentGuard,
  type AuthenticatedClient,
} from '../../infrastructure/auth/index.js';
import { INVALID_FIELD, NO_ACCESS } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { MERCHANT_NOT_FOUND } from '../merchants/index.js';
import { SESSION_NOT_FOUND } from '../sessions/index.js';
import {
  DetectAccountsRequest,
  DisconnectAccountRequest,
  LinkAccountRequest,
  LinkedAccountResponse,
  PublishedEventResponse,
  TriggeredWebhookResponse,
  TriggerWebhookRequest,
} from './sandbox.dto.js';
import { SandboxService } from './sandbox.service.js';

const DEVELOPMENT_ONLY = 'The sandbox takes development credentials alone.';
const FORBIDDEN = withMessages(NO_ACCESS, DEVELOPMENT_ONLY);
const GUARDS = [EnvironmentGuard('development', NO_ACCESS, DEVELOPMENT_ONLY)];

const MISSING_USER = withMessages(
  INVALID_FIELD,
  'The external user id field is required.',
  'The merchant id field must be an integer.',
);
const SANDBOX = 'Sandbox: development credentials alone, and nothing real is touched.';
const EXAMPLE = { event_id: '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1' };
const SESSION_ID = 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584';

@Topic('Sandbox', 'Acts as merchants and users do. Development credentials alone; nothing real is touched.')
@Controller('development')
export class SandboxController {
  constructor(private readonly sandbox: SandboxService) {}

  @Post('accounts/link')
  @PlatformOperation({
    operationId: 'linkSandboxAccount',
    summary: 'Link an account (sandbox)',
    description:
      'Acts as if the user had logged in to the merchant: your development endpoints get `AUTHENTICATED`. ' +
      'Use it to try your receiver of `AUTHENTICATED` without a real merchant. ' +
      SANDBOX,
    body: LinkAccountRequest,
    response: LinkedAccountResponse,
    responseDescription: 'The event is on its way.',
    responseExample: { ...EXAMPLE, task_id: 25_605, session_id: SESSION_ID },
    guards: GUARDS,
    errors: [MISSING_USER, FORBIDDEN, SESSION_NOT_FOUND, MERCHANT_NOT_FOUND],
  })
  link(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: LinkAccountRequest,
  ): Promise<LinkedAccountResponse> {
    return this.sandbox.link(client, request);
  }

  @Post('accounts/disconnect')
  @PlatformOperation({
    operationId: 'disconnectSandboxAccount',
    summary: 'Disconnect an account (sandbox)',
    description:
      'Acts as if the merchant had asked the user to log in again: your development endpoints get ' +
      `\`ACCOUNT_LOGIN_REQUIRED\`. Use it to try how your program brings a user back who has to log in ` +
      `again. ${SANDBOX}`,
    body: DisconnectAccountRequest,
    response: PublishedEventResponse,
    responseDescription: 'The event is on its way.',
    responseExample: EXAMPLE,
    guards: GUARDS,
    errors: [MISSING_USER, FORBIDDEN, SESSION_NOT_FOUND, MERCHANT_NOT_FOUND],
  })
  disconnect(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: DisconnectAccountRequest,
  ): Promise<PublishedEventResponse> {
    return this.sandbox.disconnect(client, request);
  }

  @Post('detected-accounts')
  @PlatformOperation({
    operationId: 'detectSandboxAccounts',
    summary: 'Detect accounts (sandbox)',
    description:
      'Records accounts of the user as detected now: "Search detected accounts" finds them, and your development ' +
      `endpoints get \`NEW_DETECTED_ACCOUNTS_AVAILABLE\`. Use it to try what you do with detected accounts. ` +
      `${SANDBOX}`,
    body: DetectAccountsRequest,
    response: PublishedEventResponse,
    responseDescription: 'The accounts are recorded, and the event is on its way.',
    responseExample: EXAMPLE,
    guards: GUARDS,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The merchants field is required.',
        'The merchants field must not have more than 100 items.',
      ),
      FORBIDDEN,
      withMessages(MERCHANT_NOT_FOUND, 'There is no merchant that merchants.0 names.'),
    ],
  })
  detect(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: DetectAccountsRequest,
  ): Promise<PublishedEventResponse> {
    return this.sandbox.detect(client, request);
  }

  @Post('webhooks/trigger')
  @PlatformOperation({
    operationId: 'triggerSandboxWebhook',
    summary: 'Trigger a webhook (sandbox)',
    description:
      'Sends the example of an event to your development endpoints, signed and retried like any other. Use ' +
      'it to try your receiver with any event. What you ' +
      `give takes the place of what the example has; fields that the event does not have are left out. ${SANDBOX}`,
    body: TriggerWebhookRequest,
    response: TriggeredWebhookResponse,
    responseDescription: 'The event is on its way.',
    responseExample: { ...EXAMPLE, task_id: 25_605 },
    guards: GUARDS,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The selected event is invalid.',
        'The data.card id field must be a string.',
        'The metadata field must not have more than 10 keys.',
      ),
      FORBIDDEN,
      SESSION_NOT_FOUND,
      MERCHANT_NOT_FOUND,
    ],
  })
  trigger(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: TriggerWebhookRequest,
  ): Promise<TriggeredWebhookResponse> {
    return this.sandbox.trigger(client, request);
  }
}
