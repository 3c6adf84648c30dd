import { Body, Controller, Post } from '@nestjs/common';
import {
  CurrentClient,
  RestrictedOperationGuard,
  type AuthenticatedClient,
} from '../../infrastructure/auth/index.js';
import { IdempotencyKeyHeader } from '../../infrastructure/idempotency/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { InternalOperation, PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { EventResponse, withIdempotencyKey } from '../webhooks/index.js';
import {
  CREATE_DETECTION,
  CreateDetectionRequest,
  DetectedAccountResponse,
  IDENTIFY_DETECTED_ACCOUNTS,
  IdentifyDetectedAccountsRequest,
  SEARCH_DETECTED_ACCOUNTS,
  SearchDetectedAccountsRequest,
} from './detected-accounts.dto.js';
import { DetectedAccountsService } from './detected-accounts.service.js';

/** The name by which operators enable this operation (specification, operation 6) for a client. */
export const IDENTIFY_OPERATION_NAME = 'identify-detected-accounts';

@Topic('Detected accounts', 'Merchants where your users have accounts.')
@Controller()
export class DetectedAccountsController {
  constructor(private readonly detectedAccounts: DetectedAccountsService) {}

  @Post('detected-accounts/search')
  @PlatformOperation(SEARCH_DETECTED_ACCOUNTS, 'detected_accounts:read')
  search(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: SearchDetectedAccountsRequest,
  ): Promise<DetectedAccountResponse[]> {
    return this.detectedAccounts.search(client, request.external_user_id, request.names);
  }

  @Post('detected_accounts/identify')
  @PlatformOperation(IDENTIFY_DETECTED_ACCOUNTS, 'detected_accounts:read', {
    guards: [RestrictedOperationGuard(IDENTIFY_OPERATION_NAME)],
  })
  identify(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: IdentifyDetectedAccountsRequest,
  ): Promise<DetectedAccountResponse[]> {
    return this.detectedAccounts.search(client, request.external_user_id, request.name);
  }
}

@Topic('Detections', 'Records the accounts that the platform detects.', 110)
@Controller('detections')
export class DetectionsController {
  constructor(private readonly detectedAccounts: DetectedAccountsService) {}

  @Post()
  @InternalOperation(CREATE_DETECTION, 'detections:write')
  create(
    @Body() request: CreateDetectionRequest,
    @IdempotencyKeyHeader() key?: string,
  ): Promise<EventResponse> {
    return this.detectedAccounts.recordForClient(withIdempotencyKey(request, key));
  }
}
