import { Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../infrastructure/auth/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../infrastructure/surfaces/index.js';
import { auditAction } from '../audit-logs/index.js';
import { API_CLIENT_NOT_FOUND } from './api-client-errors.js';
import {
  ApiClientResponse,
  ApiSecretResponse,
  EXAMPLE_CLIENT,
  EXAMPLE_SECRET,
  RotateSecretRequest,
} from './api-clients.dto.js';
import { MAX_OVERLAP_HOURS, RotationInProgressError } from './api-clients.service.js';
import { ApiSecretsService } from './api-secrets.service.js';

const ID = { client_id: { description: 'The client’s `client_id`.', example: EXAMPLE_CLIENT.client_id } };
const FRESH = 'For admins and owners whose login is not older than 5 minutes.';

@Topic('API clients', 'Credentials of the platform API and their rotation. By login alone.')
@Controller()
export class ApiClientsController {
  constructor(private readonly secrets: ApiSecretsService) {}

  @Get('api-clients')
  @DashboardOperation({
    operationId: 'listApiClients',
    summary: 'List API clients',
    description:
      'The API clients of your organization, one for each environment, and where each stands between two ' +
      'secrets; never the secrets. Use it to find a `client_id`, and to see whether a rotation is under ' +
      'way. For every user.',
    permission: { token: 'none' },
    response: [ApiClientResponse],
    responseDescription: 'All clients of the organization.',
    responseExample: [EXAMPLE_CLIENT],
    errors: [],
  })
  list(@CurrentActor() actor: DashboardActor): Promise<ApiClientResponse[]> {
    return this.secrets.list(actor);
  }

  @Post('api-clients/:client_id/secret/view')
  @DashboardOperation({
    operationId: 'viewApiSecret',
    summary: 'View an API secret',
    description:
      `Shows the newest secret of a client. Use it to set up a program or a receiver of webhooks. ${FRESH} ` +
      `Audited as \`secret.view\`.`,
    permission: { token: 'none', role: 'admin', recentLogin: true, action: auditAction('secret.view') },
    pathParameters: ID,
    response: ApiSecretResponse,
    responseDescription: 'The secret.',
    responseExample: EXAMPLE_SECRET,
    errors: [API_CLIENT_NOT_FOUND],
  })
  view(
    @CurrentActor() actor: DashboardActor,
    @Param('client_id') clientId: string,
  ): Promise<ApiSecretResponse> {
    return this.secrets.view(actor, clientId);
  }

  @Post('api-clients/:client_id/secret/rotate')
  @DashboardOperation({
    operationId: 'rotateApiSecret',
    summary: 'Rotate an API secret',
    description:
      'Issues a new secret. Use it regularly, and with an overlap of 0 hours after a leak. The old one is ' +
      'accepted beside it until the overlap ends, and webhooks are signed with ' +
      'the old one until then, or until you activate the new one. One rotation at a time; an overlap of 0 hours ' +
      `ends another at once. ${FRESH} Audited as \`secret.rotate\`.`,
    permission: { token: 'none', role: 'admin', recentLogin: true, action: auditAction('secret.rotate') },
    pathParameters: ID,
    body: RotateSecretRequest,
    response: ApiSecretResponse,
    responseDescription: 'The new secret.',
    responseExample: EXAMPLE_SECRET,
    errors: [
      withMessages(
        INVALID_FIELD,
        'The overlap hours field must be an integer.',
        `The overlap hours field must not be greater than ${MAX_OVERLAP_HOURS}.`,
        RotationInProgressError.sentence,
      ),
      API_CLIENT_NOT_FOUND,
    ],
  })
  rotate(
    @CurrentActor() actor: DashboardActor,
    @Param('client_id') clientId: string,
    @JsonBody() request: RotateSecretRequest,
  ): Promise<ApiSecretResponse> {
    return this.secrets.rotate(actor, clientId, request.overlap_hours);
  }

  @Post('api-clients/:client_id/secret/activate')
  @DashboardOperation({
    operationId: 'activateApiSecret',
    summary: 'Sign webhooks with the newest secret',
    description:
      'From now on webhooks are signed with the newest secret; the old one is accepted until the overlap ends all ' +
      `the same. Call it when your receivers have the new secret. Doing it again changes nothing. ${FRESH} ` +
      `Audited as \`secret.rotate\`, once.`,
    permission: { token: 'none', role: 'admin', recentLogin: true, action: auditAction('secret.rotate') },
    pathParameters: ID,
    response: ApiClientResponse,
    responseDescription: 'The client, which signs with its newest secret.',
    responseExample: { ...EXAMPLE_CLIENT, signing_secret_version: 2 },
    errors: [API_CLIENT_NOT_FOUND],
  })
  activate(
    @CurrentActor() actor: DashboardActor,
    @Param('client_id') clientId: string,
  ): Promise<ApiClientResponse> {
    return this.secrets.activate(actor, clientId);
  }
}
