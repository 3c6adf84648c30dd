import { Controller, Post } from '@nestjs/common';
import {
  CurrentClient,
  EnabledOperationGuard,
  type AuthenticatedClient,
} from '../../infrastructure/auth/index.js';
import { INVALID_FIELD, NO_ACCESS } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import {
  DetectedAccountResponse,
  IdentifyDetectedAccountsRequest,
  SearchDetectedAccountsRequest,
} from './detected-accounts.dto.js';
import { DetectedAccountsService } from './detected-accounts.service.js';

/** The name under which operators enable operation 6 for a client. */
export const IDENTIFY_OPERATION = 'identify-detected-accounts';

const EXAMPLE = [
  { name: 'Netflix', detected: true, detected_at: '2026-01-31T08:15:30.123Z' },
  { name: 'door dash', detected: false, detected_at: null },
];

@Topic('Detected accounts', 'At which merchants your users have accounts.')
@Controller()
export class DetectedAccountsController {
  constructor(private readonly detectedAccounts: DetectedAccountsService) {}

  @Post('detected-accounts/search')
  @PlatformOperation({
    operationId: 'searchDetectedAccounts',
    summary: 'Search detected accounts',
    description:
      'Tells for each name whether the user has a detected account there. Call it when you receive the ' +
      '`NEW_DETECTED_ACCOUNTS_AVAILABLE` webhook. Case, accents, punctuation and spacing do not matter, and ' +
      'usual other names of a merchant are known. Results come in the order of `names`, duplicates ' +
      'included. A user that was never seen has nothing detected.',
    body: SearchDetectedAccountsRequest,
    response: [DetectedAccountResponse],
    responseDescription: 'One result for each name, in their order.',
    responseExample: EXAMPLE,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The names field is required.',
        'The names field must not have more than 100 items.',
        'The names.0 field must not be greater than 256 characters.',
      ),
    ],
  })
  search(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: SearchDetectedAccountsRequest,
  ): Promise<DetectedAccountResponse[]> {
    return this.detectedAccounts.search(client, request.external_user_id, request.names);
  }

  @Post('detected_accounts/identify')
  @PlatformOperation({
    operationId: 'identifyDetectedAccounts',
    summary: 'Identify detected accounts (by arrangement)',
    description:
      'As "Search detected accounts", with the names in the field `name`. Coming soon: until access is ' +
      'arranged for your client, the operation answers 403 `NO_ACCESS`.',
    body: IdentifyDetectedAccountsRequest,
    response: [DetectedAccountResponse],
    responseDescription: 'One result for each name, in their order.',
    responseExample: EXAMPLE,
    guards: [EnabledOperationGuard(IDENTIFY_OPERATION)],
    errors: [withMessages(INVALID_FIELD, 'The name field is required.'), NO_ACCESS],
  })
  identify(
    @CurrentClient() client: AuthenticatedClient,
    @JsonBody() request: IdentifyDetectedAccountsRequest,
  ): Promise<DetectedAccountResponse[]> {
    return this.detectedAccounts.search(client, request.external_user_id, request.name);
  }
}
