import { Controller, Get, Header, Post, type StreamableFile } from '@nestjs/common';
import { DashboardUserCaller, type DashboardCaller } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { auditedAs } from '../audit-logs/index.js';
import { LOGO_NOT_FOUND } from './account-errors.js';
import { AccountResponse, EXAMPLE_ACCOUNT, UpdateLogoRequest } from './account.dto.js';
import { AccountService } from './account.service.js';
import { LARGEST_LOGO, LOGO_MEDIA_TYPES } from './logo.js';

@Controller()
export class AccountController {
  constructor(private readonly account: AccountService) {}

  @Get('account')
  @DashboardOperation({
    operationId: 'getAccount',
    summary: 'Get the account',
    description: 'The account of your organization. For every user.',
    permission: { token: 'none' },
    response: AccountResponse,
    responseDescription: 'The account.',
    responseExample: EXAMPLE_ACCOUNT,
    errors: [],
  })
  get(@DashboardUserCaller() caller: DashboardCaller): Promise<AccountResponse> {
    return this.account.get(caller);
  }

  @Post('account/activate')
  @DashboardOperation({
    operationId: 'activateAccount',
    summary: 'Activate the account',
    description:
      'Tells that your organization is ready. Doing it again answers the same and changes nothing. For owners. ' +
      'Audited as `account.activate`, once.',
    permission: { token: 'none', role: 'owner', action: auditedAs('account.activate') },
    response: AccountResponse,
    responseDescription: 'The account is active.',
    responseExample: EXAMPLE_ACCOUNT,
    errors: [],
  })
  activate(@DashboardUserCaller() caller: DashboardCaller): Promise<AccountResponse> {
    return this.account.activate(caller);
  }

  @Post('account/logo')
  @DashboardOperation({
    operationId: 'updateAccountLogo',
    summary: 'Change the logo',
    description:
      'Replaces the logo of your app. The image is known by its first bytes; SVG is refused, because it may hold ' +
      'scripts. For admins and owners. Audited as `account.logo_update`.',
    permission: { token: 'none', role: 'admin', action: auditedAs('account.logo_update') },
    body: UpdateLogoRequest,
    response: AccountResponse,
    responseDescription: 'The account has the logo.',
    responseExample: EXAMPLE_ACCOUNT,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The image field must be base64.',
        `The image field must not be greater than ${LARGEST_LOGO} bytes.`,
        'The image field must be a PNG, JPEG or WebP image.',
      ),
    ],
  })
  updateLogo(
    @DashboardUserCaller() caller: DashboardCaller,
    @JsonBody() request: UpdateLogoRequest,
  ): Promise<AccountResponse> {
    return this.account.updateLogo(caller, request.image);
  }

  // Somebody sent the image: no browser may take it for anything else, or run it.
  @Get('account/logo')
  @Header('X-Content-Type-Options', 'nosniff')
  @Header('Content-Security-Policy', "default-src 'none'; sandbox")
  @DashboardOperation({
    operationId: 'getAccountLogo',
    summary: 'Get the logo',
    description: 'The logo of your app. For every user.',
    permission: { token: 'none' },
    response: Buffer as never,
    responseType: LOGO_MEDIA_TYPES,
    responseDescription: 'The image.',
    errors: [LOGO_NOT_FOUND],
  })
  logo(@DashboardUserCaller() caller: DashboardCaller): Promise<StreamableFile> {
    return this.account.logo(caller);
  }
}
