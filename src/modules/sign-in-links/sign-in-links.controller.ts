import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
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
import {
  CANCEL_SIGN_IN_LINK,
  CREATE_SIGN_IN_LINK,
  CreateSignInLinkRequest,
  GET_SIGN_IN_LINK,
  type CreatedSignInLinkResponse,
  LIST_SIGN_IN_LINKS,
  ListSignInLinksQuery,
  type SignInLinkListResponse,
  type SignInLinkResponse,
} from './sign-in-links.dto.js';
import { SignInLinkCreationService } from './sign-in-link-creation.service.js';
import { SignInLinksService } from './sign-in-links.service.js';

@Topic(
  'Sign-in links',
  'Links with which your users sign in to merchants, from your backend or from agents.',
  50,
)
@Controller('sign-in-links')
export class SignInLinksController {
  constructor(
    private readonly links: SignInLinksService,
    private readonly creation: SignInLinkCreationService,
  ) {}

  @Post()
  @PlatformOperation(CREATE_SIGN_IN_LINK, 'sign_in_links:write')
  create(
    @CurrentClient() client: AuthenticatedClient,
    @Body() request: CreateSignInLinkRequest,
    @Attribution() attribution: RequestAttribution,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<CreatedSignInLinkResponse> {
    return this.creation.createFor(client, request, { attribution, idempotent });
  }

  @Get()
  @PlatformOperation(LIST_SIGN_IN_LINKS, 'sign_in_links:read')
  list(
    @CurrentClient() client: AuthenticatedClient,
    @Query() query: ListSignInLinksQuery,
    @Attribution() attribution: RequestAttribution,
  ): Promise<SignInLinkListResponse> {
    return this.links.list(client, query, attribution);
  }

  @Get(':id')
  @PlatformOperation(GET_SIGN_IN_LINK, 'sign_in_links:read')
  get(@CurrentClient() client: AuthenticatedClient, @Param('id') id: string): Promise<SignInLinkResponse> {
    return this.links.get(client, id);
  }

  @Post(':id/cancel')
  @PlatformOperation(CANCEL_SIGN_IN_LINK, 'sign_in_links:write')
  cancel(
    @CurrentClient() client: AuthenticatedClient,
    @Param('id') id: string,
    @Origin() origin: RequestOrigin,
    @Idempotent() idempotent?: IdempotentRequest,
  ): Promise<SignInLinkResponse> {
    return this.links.cancelFor(client, id, origin, { idempotent });
  }
}
