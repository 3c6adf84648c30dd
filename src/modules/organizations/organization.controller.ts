import { Controller, Get, Header, Post, type StreamableFile } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { auditAction } from '../audit-logs/index.js';
import { LOGO_NOT_FOUND } from './organization-errors.js';
import { OrganizationResponse, EXAMPLE_ORGANIZATION, UpdateLogoRequest } from './organization.dto.js';
import { OrganizationAdministrationService } from './organization-administration.service.js';
import { MAX_LOGO_BYTES, LOGO_MEDIA_TYPES } from './logo.js';

@Topic('Organization', 'Your organization and its logo. By login alone.')
@Controller()
export class OrganizationController {
  constructor(private readonly administration: OrganizationAdministrationService) {}

  @Get('organization')
  @DashboardOperation({
    operationId: 'getOrganization',
    summary: 'Get the organization',
    description:
      'Your organization. Use it to show the name of your organization, and whether it is activated. For ' +
      'every user.',
    permission: { token: 'none' },
    response: OrganizationResponse,
    responseDescription: 'The organization.',
    responseExample: EXAMPLE_ORGANIZATION,
    errors: [],
  })
  get(@CurrentActor() actor: DashboardActor): Promise<OrganizationResponse> {
    return this.administration.get(actor);
  }

  @Post('organization/activate')
  @DashboardOperation({
    operationId: 'activateOrganization',
    summary: 'Activate the organization',
    description:
      'Tells that your organization is ready. Use it once, when you are about to go live. Doing it again ' +
      'answers the same and changes nothing. For owners. Audited as `account.activate`, once.',
    permission: { token: 'none', role: 'owner', action: auditAction('account.activate') },
    response: OrganizationResponse,
    responseDescription: 'The organization is active.',
    responseExample: EXAMPLE_ORGANIZATION,
    errors: [],
  })
  activate(@CurrentActor() actor: DashboardActor): Promise<OrganizationResponse> {
    return this.administration.activate(actor);
  }

  @Post('organization/logo')
  @DashboardOperation({
    operationId: 'updateOrganizationLogo',
    summary: 'Change the logo',
    description:
      'Replaces the logo of your app. Use it to change what your users see in the SDK. The image is known ' +
      'by its first bytes; SVG is refused, because it may hold scripts. For admins and owners. Audited as ' +
      '`account.logo_update`.',
    permission: { token: 'none', role: 'admin', action: auditAction('account.logo_update') },
    body: UpdateLogoRequest,
    response: OrganizationResponse,
    responseDescription: 'The organization has the logo.',
    responseExample: EXAMPLE_ORGANIZATION,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The image field must be base64.',
        `The image field must not be greater than ${MAX_LOGO_BYTES} bytes.`,
        'The image field must be a PNG, JPEG or WebP image.',
      ),
    ],
  })
  updateLogo(
    @CurrentActor() actor: DashboardActor,
    @JsonBody() request: UpdateLogoRequest,
  ): Promise<OrganizationResponse> {
    return this.administration.updateLogo(actor, request.image);
  }

  // Somebody sent the image: no browser may run it, also not as a document of its own.
  @Get('organization/logo')
  @Header('Content-Security-Policy', "default-src 'none'; sandbox")
  @DashboardOperation({
    operationId: 'getOrganizationLogo',
    summary: 'Get the logo',
    description:
      'The logo of your app. Call it to show the logo beside the name of your app. For every user.',
    permission: { token: 'none' },
    response: Buffer as never,
    responseType: LOGO_MEDIA_TYPES,
    responseDescription: 'The image.',
    errors: [LOGO_NOT_FOUND],
  })
  logo(@CurrentActor() actor: DashboardActor): Promise<StreamableFile> {
    return this.administration.logo(actor);
  }
}
