import { Controller, Get } from '@nestjs/common';
import { CurrentActor, type DashboardActor } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { DashboardOperation } from '../../../infrastructure/surfaces/index.js';
import { CurrentUserResponse } from './current-user.dto.js';
import { GET_CURRENT_USER } from './current-user.docs.js';

@Topic('Access tokens')
@Controller()
export class CurrentUserController {
  @Get('me')
  @DashboardOperation(GET_CURRENT_USER, { token: 'any' })
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
