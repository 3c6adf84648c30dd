import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentClient, type AuthenticatedClient } from '../../infrastructure/auth/index.js';
import {
  Attribution,
  Origin,
  type RequestAttribution,
  type RequestOrigin,
} from '../../infrastructure/http/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { PlatformOperation } from '../../infrastructure/surfaces/index.js';
import {
  CANCEL_SIGN_IN_LINK,
  LIST_SIGN_IN_LINKS,
  ListSignInLinksQuery,
  type SignInLinkListResponse,
  type SignInLinkResponse,
} from './sign-in-links.dto.js';
import { SignInLinksService } from './sign-in-links.service.js';

@Topic('Sign-in links', 'Links that agents send to your users, so that the users sign in to merchants.')
@Controller('sign-in-links')
export class SignInLinksController {
  constructor(private readonly links: SignInLinksService) {}

  @Get()
  @PlatformOperation(LIST_SIGN_IN_LINKS)
  list(
    @CurrentClient() client: AuthenticatedClient,
    @Query() query: ListSignInLinksQuery,
    @Attribution() attribution: RequestAttribution,
  ): Promise<SignInLinkListResponse> {
    return this.links.list(client, query, attribution);
  }

  @Post(':id/cancel')
  @PlatformOperation(CANCEL_SIGN_IN_LINK)
  cancel(
    @CurrentClient() client: AuthenticatedClient,
    @Param('id') id: string,
    @Origin() origin: RequestOrigin,
  ): Promise<SignInLinkResponse> {
    return this.links.cancelFor(client, id, origin);
  }
}
