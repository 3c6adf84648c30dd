import { auditActions, byOperator } from '../../infrastructure/audit-catalog/index.js';

const PLATFORM_ONLY = 'The entry is in the log of the platform only.';

const SERVICE_TOKEN_ACTIONS = auditActions({
  'service_token.create': byOperator('service_token', 'created/create a service token *', PLATFORM_ONLY),
  'service_token.rotate': byOperator('service_token', 'rotated/rotate a service token *', PLATFORM_ONLY),
  'service_token.revoke': byOperator('service_token', 'revoked/revoke a service token *', PLATFORM_ONLY),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof SERVICE_TOKEN_ACTIONS, never> {}
}
