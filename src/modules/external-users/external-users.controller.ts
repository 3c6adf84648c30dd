import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import {
  Attribution,
  Origin,
  type RequestAttribution,
  type RequestOrigin,
} from '../../infrastructure/http/index.js';
import { Idempotent, type IdempotentRequest } from '../../infrastructure/idempotency/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import { actorOf } from '../audit-logs/index.js';
import {
  ERASE_EXTERNAL_USER,
  ERASE_USER,
  EraseUserRequest,
  ErasureQuery,
  ExternalUserPath,
  FIND_ERASURE,
  GET_ERASURE,
  type UserErasureResponse,
} from './user-erasures.dto.js';
import { UserErasuresService } from './user-erasures.service.js';

@Topic('External users', 'Your users, as you name them, and everything that is stored about them.', 80)
@Controller('external-users')
export class ExternalUsersController {
  constructor(private readonly erasures: UserErasuresService) {}

  @Delete(':external_user_id')
  @PlatformOperation(ERASE_EXTERNAL_USER, 'users:erase')
  erase(
    @CurrentClient() client: AuthenticatedClient,
    @Param() { external_user_id }: ExternalUserPath,
    @Origin() origin: RequestOrigin,
  ): Promise<UserErasureResponse> {
    return this.erasures.request(client, external_user_id, actorOf(client, origin));
  }

  @Get(':external_user_id/erasure')
  @PlatformOperation(GET_ERASURE, 'users:erase')
  get(
    @CurrentClient() client: AuthenticatedClient,
    @Param() { external_user_id }: ExternalUserPath,
  ): Promise<UserErasureResponse> {
    return this.erasures.get(client, external_user_id);
  }

  @Post('erase')
  @HttpCode(202)
  @PlatformOperation(ERASE_USER, 'users:erase')
  eraseNamed(
    @CurrentClient() client: AuthenticatedClient,
    @Body() { external_user_id }: EraseUserRequest,
    @Origin() origin: RequestOrigin,
    @Attribution() attribution: RequestAttribution,
    @Idempotent() idempotent: IdempotentRequest | undefined,
  ): Promise<UserErasureResponse> {
    return this.erasures.requestOnce(
      client,
      external_user_id,
      actorOf(client, origin),
      attribution,
      idempotent,
    );
  }

  @Get('erasure')
  @PlatformOperation(FIND_ERASURE, 'users:erase')
  find(
    @CurrentClient() client: AuthenticatedClient,
    @Query() { external_user_id }: ErasureQuery,
  ): Promise<UserErasureResponse> {
    return this.erasures.get(client, external_user_id);
  }
}
