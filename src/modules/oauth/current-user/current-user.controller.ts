import { Controller, Get } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { CurrentUserResponse, EXAMPLE_CURRENT_USER } from './current-user.dto.js';

@Topic('Access tokens')
@Controller()
export class CurrentUserController {
  @Get('me')
  @DashboardOperation({
    operationId: 'getCurrentUser',
    summary: 'Get current user',
    description:
      'Who is calling, and what the access token is good for. The simplest way to find out whether a token ' +
      'works.',
    response: CurrentUserResponse,
    responseDescription: 'The caller.',
    responseExample: EXAMPLE_CURRENT_USER,
    permission: { token: 'any' },
    errors: [],
  })
  currentUser(@CurrentActor() actor: DashboardActor): CurrentUserResponse {
    return describe(actor);
  }
}

function describe({ credential, ...user }: DashboardActor): CurrentUserResponse {
  return {
    id: user.userId,
    name: user.name,
    email: user.email,
    organization_id: user.organizationId,
    role: user.role,
    token:
      credential.kind === 'session'
        ? null
        : {
            client_id: credential.clientId,
            environment: credential.environment,
            scopes: [...credential.scopes],
          },
  };
}
