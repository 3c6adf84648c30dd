import { applyDecorators, HttpCode, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import {
  INVALID_SERVICE_TOKEN,
  missingServiceScope,
  ServiceScopeGuard,
  ServiceTokenGuard,
  type ServiceScope,
} from '../auth/index.js';
import { INSUFFICIENT_SCOPE, INVALID_ACCESS_TOKEN, TOO_MANY_REQUESTS } from '../errors/index.js';
import {
  DocumentedOperation,
  resolveDescription,
  withSharedMessages,
  type OperationDocument,
} from '../openapi/index.js';
import { commonErrors } from './operation-errors.js';

/**
 * An operation for the platform's own services. Checks the service token (401) and its scope (403) before it reads the
 * body. Only requests with wrong tokens are limited (429).
 */
export function InternalOperation(document: OperationDocument, scope: ServiceScope): MethodDecorator {
  return applyDecorators(
    HttpCode(document.status ?? 200),
    UseGuards(ServiceTokenGuard, ServiceScopeGuard(scope)),
    ApiSecurity('service-token'),
    DocumentedOperation('internal', {
      ...document,
      description: (configurationOf) =>
        `${resolveDescription(document.description, configurationOf)}\n\nRequires the scope \`${scope}\`.`,
      errors: [
        ...document.errors,
        withSharedMessages('InvalidServiceToken', INVALID_ACCESS_TOKEN, INVALID_SERVICE_TOKEN),
        TOO_MANY_REQUESTS,
        withSharedMessages(labelOf(scope), INSUFFICIENT_SCOPE, missingServiceScope(scope)),
        ...commonErrors(document),
      ],
    }),
  );
}

/** `events:publish` -> `MissingEventsPublish` */
function labelOf(scope: ServiceScope): string {
  return `Missing${scope.replaceAll(/(?:^|\W)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}
