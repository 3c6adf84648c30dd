import { Body, Controller, Post } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Attribution, type RequestAttribution } from '../../infrastructure/http/index.js';
import {
  Idempotent,
  IdempotentRequests,
  type IdempotentRequest,
} from '../../infrastructure/idempotency/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { MERCHANT_ACCOUNTS_TOPIC, type MerchantAccountResponse } from '../merchant-accounts/index.js';
import { UNLINK_ACCOUNT, UnlinkAccountRequest } from './unlinking.dto.js';
import { UnlinkingService } from './unlinking.service.js';

@Topic(...MERCHANT_ACCOUNTS_TOPIC)
@Controller('accounts')
export class UnlinkingController {
  constructor(
    private readonly unlinking: UnlinkingService,
    private readonly idempotentRequests: IdempotentRequests,
  ) {}

  @Post('unlink')
  @PlatformOperation(UNLINK_ACCOUNT, 'accounts:write')
  unlink(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: UnlinkAccountRequest,
    @Attribution() attribution: RequestAttribution,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<MerchantAccountResponse> {
    return this.idempotentRequests.once(
      idempotent,
      () => this.unlinking.unlink(client, request, attribution),
      { externalUserId: request.external_user_id },
    );
  }
}
