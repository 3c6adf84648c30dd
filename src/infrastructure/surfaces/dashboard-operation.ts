import { applyDecorators, HttpCode, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import {
  declarePermission,
  DashboardAuthGuard,
  DashboardPermissionGuard,
  CROSS_SITE_REQUEST,
  SECOND_FACTOR_REQUIRED,
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
import { DocumentedOperation, withSharedMessages, type OperationDocument } from '../openapi/index.js';
import { RateLimitGuard, DashboardRateLimitConfiguration, type RateLimit } from '../rate-limiting/index.js';
import { commonErrors } from './operation-errors.js';
import { OrganizationQueue } from './organization-queue.interceptor.js';

/** Counts the requests of a user to all operations together, both with access tokens and with sessions. */
const LIMIT: RateLimit = {
  name: 'dashboard',
  requests: (configuration) => configuration.get(DashboardRateLimitConfiguration).dashboardRequestsPerMinute,
  per: 'user',
  seconds: 60,
};
export const DashboardLimitGuard = RateLimitGuard(LIMIT, RATE_LIMIT_EXCEEDED);

/**
 * An operation of the dashboard API. Checks the access token or session (401), the rate limit (429) and the
 * permission (403) before it reads the JSON body.
 */
export function DashboardOperation(
  document: OperationDocument,
  permission: DashboardPermission,
): MethodDecorator {
  declarePermission(document.operationId, permission);
  const bearer = permission.token === 'none' ? [] : [ApiSecurity('bearer')];
  return applyDecorators(
    HttpCode(document.status ?? 200),
    RequirePermission(() => permission),
    UseGuards(DashboardAuthGuard, DashboardLimitGuard, DashboardPermissionGuard),
    UseInterceptors(OrganizationQueue),
    ...bearer,
    ApiSecurity('session'),
    DocumentedOperation('dashboard', {
      ...document,
      errors: [...document.errors, ...errorsOf(permission), ...commonErrors(document)],
    }),
  );
}

/** Returns the errors of requests without the permission, or over the limit. */
export function errorsOf({ token, role, recentLogin }: DashboardPermission): OperationDocument['errors'] {
  return [
    INVALID_ACCESS_TOKEN,
    ...(recentLogin
      ? [withSharedMessages('RecentLoginRequired', INVALID_ACCESS_TOKEN, RECENT_LOGIN_REQUIRED)]
      : []),
    RATE_LIMIT_EXCEEDED,
    NO_SECOND_FACTOR,
    ...FORBIDDEN_TOKENS[token === 'any' || token === 'none' ? token : 'scope'],
    ...(role === undefined ? [] : [INSUFFICIENT_ROLE]),
  ];
}

/** Errors (403) of a login. */
const NO_SECOND_FACTOR = withSharedMessages('SecondFactorRequired', NO_ACCESS, SECOND_FACTOR_REQUIRED);
const FROM_OTHER_SITE = withSharedMessages('CrossSiteRequest', NO_ACCESS, CROSS_SITE_REQUEST);

/** Errors (403) for an access token, or for a session in its place. */
const FORBIDDEN_TOKENS = {
  any: [],
  scope: [INSUFFICIENT_SCOPE, FROM_OTHER_SITE],
  none: [withSharedMessages('LoginRequired', INSUFFICIENT_SCOPE, LOGIN_REQUIRED), FROM_OTHER_SITE],
};
