import type { AuditedAction } from '../../infrastructure/auth/index.js';

interface ActionDescription {
  /** The kind of thing that is acted on. */
  readonly target: string;
  /** What was done; published in the documents. */
  readonly meaning: string;
}

/**
 * Everything that the audit log can tell of. An action that is not in here cannot be recorded: it does not
 * compile. The API document and `docs/audit-actions.md` are written from it.
 */
export const AUDIT_ACTIONS = {
  'auth.login': { target: 'user', meaning: 'A user logged in to the dashboard, or tried to.' },
  'auth.logout': { target: 'user', meaning: 'A user logged out.' },
  'auth.two_factor_enable': { target: 'user', meaning: 'A user turned two-factor authentication on.' },
  'auth.two_factor_disable': { target: 'user', meaning: 'Two-factor authentication was turned off.' },
  'auth.password_reset': { target: 'user', meaning: 'A password was reset.' },
  'auth.device_approve': { target: 'device', meaning: 'A device was let in by its user code.' },
  'auth.device_deny': { target: 'device', meaning: 'A device was turned away.' },
  'user.add': { target: 'user', meaning: 'A dashboard user was added.' },
  'user.update': { target: 'user', meaning: 'The name or role of a dashboard user was changed.' },
  'user.remove': { target: 'user', meaning: 'A dashboard user was removed.' },
  'merchant.activate': { target: 'merchant', meaning: 'A merchant was made available to users.' },
  'merchant.hide': { target: 'merchant', meaning: 'A merchant was hidden from users.' },
  'merchant.export': { target: 'merchant', meaning: 'The list of merchants was exported.' },
  'webhook.create': { target: 'webhook_endpoint', meaning: 'A webhook endpoint was created.' },
  'webhook.update': { target: 'webhook_endpoint', meaning: 'A webhook endpoint was changed.' },
  'webhook.delete': { target: 'webhook_endpoint', meaning: 'A webhook endpoint was deleted.' },
  'access_grant.create': { target: 'access_grant', meaning: 'Privileged access was granted for a time.' },
  'access_grant.revoke': { target: 'access_grant', meaning: 'Privileged access was ended before its time.' },
  'secret.view': { target: 'secret', meaning: 'An API secret was shown.' },
  'secret.rotate': { target: 'secret', meaning: 'An API secret was rotated.' },
  'sso.add': { target: 'sso_configuration', meaning: 'A SAML single sign-on configuration was added.' },
  'sso.update': { target: 'sso_configuration', meaning: 'A single sign-on configuration was changed.' },
  'sso.enable': { target: 'sso_configuration', meaning: 'Single sign-on was turned on.' },
  'sso.disable': { target: 'sso_configuration', meaning: 'Single sign-on was turned off.' },
  'domain.add': { target: 'domain', meaning: 'A domain was put on the allowlist.' },
  'domain.remove': { target: 'domain', meaning: 'A domain was taken off the allowlist.' },
  'account.activate': { target: 'account', meaning: 'The account of the organization was activated.' },
  'account.logo_update': { target: 'account', meaning: 'The logo of the app was changed.' },
} as const satisfies Readonly<Record<string, ActionDescription>>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** How an action went. `denied`: the user may not do it. `failure`: it was tried and did not succeed. */
export const AUDIT_OUTCOMES = ['success', 'failure', 'denied'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Every name of an action, in the order of the catalogue. */
export const AUDIT_ACTION_NAMES = Object.keys(AUDIT_ACTIONS) as readonly AuditAction[];

/** Every kind of thing that is acted on. */
export const AUDIT_TARGET_TYPES = [...new Set(Object.values(AUDIT_ACTIONS).map(({ target }) => target))];

/** An action of the catalogue for the permission of an operation, so that refused attempts are recorded. */
export function auditAction(action: AuditAction): AuditedAction {
  return { action };
}

/** Whether the catalogue has an action of this name. */
export function isAuditAction(name: string): name is AuditAction {
  return Object.hasOwn(AUDIT_ACTIONS, name);
}
