import { applyDecorators, HttpCode, UseGuards, type CanActivate, type Type } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import {
  DashboardAuthGuard,
  DashboardPermissionGuard,
  CROSS_SITE_REQUEST,
  LOGIN_REQUIRED,
  RequirePermission,
  RECENT_LOGIN_REQUIRED,
  type DashboardPermission,
} from '../auth/index.js';
import {
  INSUFFICIENT_ROLE,
  INSUFFICIENT_SCOPE,
  INVALID_ACCESS_TOKEN,
  NO_ACCESS,
  RATE_LIMIT_EXCEEDED,
} from '../errors/index.js';
import {
  resolveDescription,
  DocumentedOperation,
  withMessages,
  type OperationDocument,
} from '../openapi/index.js';
import { DashboardRateLimitGuard, RateLimitingConfiguration } from '../rate-limiting/index.js';
import { commonErrors } from './operation-errors.js';

export interface DashboardOperationOptions extends OperationDocument {
  readonly permission: DashboardPermission;
}

/**
 * An operation of the dashboard API: an access token or a login in the dashboard (401), the rate (429), the
 * permission (403); the JSON body is read after them.
 */
export function DashboardOperation(options: DashboardOperationOptions): MethodDecorator {
  const { permission } = options;
  const bearer = permission.token === 'none' ? [] : [ApiSecurity('bearer')];
  return applyDecorators(
    HttpCode(200),
    RequirePermission(permission),
    UseGuards(...GUARDS),
    ...bearer,
    ApiSecurity('session'),
    DocumentedOperation('dashboard', {
      ...options,
      description: (configurationOf) =>
        `${resolveDescription(options.description, configurationOf)}\n\n` +
        `Limit: ${configurationOf(RateLimitingConfiguration).dashboardRequestsPerMinute} requests per minute per user, ` +
        'across all operations of the dashboard API.',
      errors: [
        ...options.errors,
        INVALID_ACCESS_TOKEN,
        ...(permission.recentLogin ? [withMessages(INVALID_ACCESS_TOKEN, RECENT_LOGIN_REQUIRED)] : []),
        RATE_LIMIT_EXCEEDED,
        ...FORBIDDEN_TOKENS[
          permission.token === 'any' || permission.token === 'none' ? permission.token : 'scope'
        ],
        ...(permission.role === undefined || permission.role === 'member' ? [] : [INSUFFICIENT_ROLE]),
        ...commonErrors(options),
      ],
    }),
  );
}

/** What a token, or a login in its place, may be refused for. */
const FORBIDDEN_TOKENS = {
  any: [],
  scope: [INSUFFICIENT_SCOPE, withMessages(NO_ACCESS, CROSS_SITE_REQUEST)],
  none: [withMessages(INSUFFICIENT_SCOPE, LOGIN_REQUIRED), withMessages(NO_ACCESS, CROSS_SITE_REQUEST)],
};

const GUARDS: readonly Type<CanActivate>[] = [
  DashboardAuthGuard,
  DashboardRateLimitGuard,
  DashboardPermissionGuard,
];
