import {
  applyDecorators,
  HttpCode,
  Inject,
  Injectable,
  mixin,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { ApiBasicAuth, ApiSecurity } from '@nestjs/swagger';
import type { Request } from 'express';
import {
  BasicAuthGuard,
  DashboardAuthGuard,
  declarePermission,
  DashboardPermissionGuard,
  RequirePermission,
  sessionTokenOf,
  type DashboardPermission,
} from '../auth/index.js';
import { ServiceConfiguration } from '../config/index.js';
import { INVALID_API_KEYS, TOO_MANY_REQUESTS } from '../errors/index.js';
import { OnSurface } from '../http/index.js';
import { DocumentedOperation, type OperationDocument } from '../openapi/index.js';
import { RateLimitGuard } from '../rate-limiting/index.js';
import { DashboardLimitGuard, errorsOf } from './dashboard-operation.js';
import { commonErrors } from './operation-errors.js';
import { PLATFORM_LIMIT } from './platform-operation.js';

type SharedSurface = 'platform' | 'dashboard';

/**
 * An operation of the platform API that the dashboard has too: it accepts the Basic credentials of a client, or what the
 * dashboard API accepts. The API document lists it once, on the platform API.
 *
 * @param permission required for requests without Basic credentials
 */
export function SharedOperation(
  document: OperationDocument,
  permission: DashboardPermission,
): MethodDecorator {
  declarePermission(document.operationId, permission);
  return applyDecorators(
    HttpCode(document.status ?? 200),
    RequirePermission(() => permission),
    UseGuards(
      ...[BasicAuthGuard, RateLimitGuard(PLATFORM_LIMIT, TOO_MANY_REQUESTS)].map(onlyFor('platform')),
      ...[DashboardAuthGuard, DashboardLimitGuard, DashboardPermissionGuard].map(onlyFor('dashboard')),
    ),
    ApiBasicAuth('basic'),
    ...(permission.token === 'none' ? [] : [ApiSecurity('bearer')]),
    ApiSecurity('session'),
    DocumentedOperation('platform', {
      ...document,
      errors: [
        ...document.errors,
        INVALID_API_KEYS,
        TOO_MANY_REQUESTS,
        ...errorsOf(permission),
        ...commonErrors(document),
      ],
    }),
    OnSurface('platform', 'dashboard'),
  );
}

/** Returns a function that makes a guard ignore requests of the other surface. */
function onlyFor(surface: SharedSurface): (guard: Type<CanActivate>) => Type<CanActivate> {
  return (Guard) => {
    @Injectable()
    class GuardOfSurface extends Guard {
      @Inject(ServiceConfiguration)
      private readonly configuration!: ServiceConfiguration;

      override canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
        const request = context.switchToHttp().getRequest<Request>();
        return surfaceOf(request, this.configuration) === surface ? super.canActivate(context) : true;
      }
    }
    return mixin(GuardOfSurface);
  };
}

/** A host that serves one of the surfaces accepts only its credentials. Without credentials, a program is told what to send. */
function surfaceOf(request: Request, configuration: ServiceConfiguration): SharedSurface {
  if (!configuration.serves('dashboard')) return 'platform';
  if (!configuration.serves('platform')) return 'dashboard';
  const { authorization } = request.headers;
  const isUser =
    authorization === undefined ? sessionTokenOf(request) !== undefined : /^bearer\b/i.test(authorization);
  return isUser ? 'dashboard' : 'platform';
}
