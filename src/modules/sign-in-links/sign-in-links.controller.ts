import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentOrganization, type RequestingOrganization } from '../../infrastructure/auth/index.js';
import {
  Attribution,
  Origin,
  type RequestAttribution,
  type RequestOrigin,
} from '../../infrastructure/http/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { SharedOperation } from '../../infrastructure/surfaces/index.js';
import { CANCEL_SIGN_IN_LINK, LIST_SIGN_IN_LINKS } from './sign-in-links.docs.js';
import {
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
  @SharedOperation(LIST_SIGN_IN_LINKS)
  list(
    @CurrentOrganization() requester: RequestingOrganization,
    @Query() query: ListSignInLinksQuery,
    @Attribution() attribution: RequestAttribution,
  ): Promise<SignInLinkListResponse> {
    return this.links.list(requester, query, attribution);
  }

  @Post(':id/cancel')
  @SharedOperation(CANCEL_SIGN_IN_LINK)
  cancel(
    @CurrentOrganization() requester: RequestingOrganization,
    @Param('id') id: string,
    @Origin() origin: RequestOrigin,
  ): Promise<SignInLinkResponse> {
    return this.links.cancelFor(requester, id, origin);
  }
}
