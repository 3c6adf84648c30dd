/**
 * All actions that can be recorded; other names do not compile. The API document and `docs/audit-actions.md` are
 * generated from this catalog.
 */
export const AUDIT_ACTIONS = {
  'auth.login': { target: 'user', meaning: 'A user logged in to the dashboard, or failed to.' },
  'auth.logout': { target: 'user', meaning: 'A user logged out.' },
  'auth.two_factor_enable': { target: 'user', meaning: 'A user enabled two-factor authentication.' },
  'auth.two_factor_disable': { target: 'user', meaning: 'Two-factor authentication was disabled.' },
  'auth.recovery_codes_renew': { target: 'user', meaning: 'A user replaced their recovery codes.' },
  'auth.passkey_add': { target: 'passkey', meaning: 'A user added a passkey.' },
  'auth.passkey_rename': { target: 'passkey', meaning: 'A user renamed a passkey.' },
  'auth.passkey_remove': { target: 'passkey', meaning: 'A user removed a passkey.' },
  'auth.provider_link': {
    target: 'user',
    meaning:
      'A user logged in through single sign-on for the first time, which links the user to the account there.',
  },
  'auth.provider_unlink': {
    target: 'user',
    meaning:
      'The link between a user and an account at the identity provider was removed. The next login links the user again.',
  },
  'auth.session_end': { target: 'user', meaning: 'A user ended one or all of their other logins.' },
  'auth.password_reset': { target: 'user', meaning: 'A password was set with a link from an email.' },
  'auth.password_change': { target: 'user', meaning: 'A user changed the password while logged in.' },
  'auth.device_approve': { target: 'device', meaning: 'The request of a device was approved.' },
  'auth.device_deny': { target: 'device', meaning: 'The request of a device was denied.' },
  'auth.device_revoke': { target: 'device', meaning: 'The access of a device was ended.' },
  'user.add': { target: 'user', meaning: 'A dashboard user was added.' },
  'user.invite': {
    target: 'user',
    meaning: 'An invitation was sent again to a user who has not accepted it.',
  },
  'user.update': {
    target: 'user',
    meaning: 'A dashboard user was disabled or enabled, or their name or role was changed.',
  },
  'user.unlock': { target: 'user', meaning: 'The limits on failed logins were lifted for a dashboard user.' },
  'user.remove': { target: 'user', meaning: 'A dashboard user was removed.' },
  'merchant.activate': { target: 'merchant', meaning: 'A merchant was made available to users.' },
  'merchant.hide': { target: 'merchant', meaning: 'A merchant was hidden from users.' },
  'merchant.export': { target: 'merchant', meaning: 'The list of merchants was exported.' },
  'external_user.erase': {
    target: 'external_user',
    meaning: 'The erasure of a user of a client was requested. The entry does not name the user.',
  },
  'request_log.export': { target: 'request_log', meaning: 'Entries of the request log were exported.' },
  'audit_log.export': { target: 'audit_log', meaning: 'Entries of the audit log were exported.' },
  'audit_stream.update': {
    target: 'audit_stream',
    meaning: 'The stream that sends the audit log to another system was added, changed or resumed.',
  },
  'audit_stream.remove': { target: 'audit_stream', meaning: 'The stream of the audit log was removed.' },
  'webhook.create': { target: 'webhook_endpoint', meaning: 'A webhook endpoint was created.' },
  'webhook.update': {
    target: 'webhook_endpoint',
    meaning: 'A webhook endpoint was changed, paused, resumed, disabled or enabled.',
  },
  'webhook.delete': { target: 'webhook_endpoint', meaning: 'A webhook endpoint was deleted.' },
  'webhook.resend': {
    target: 'webhook_endpoint',
    meaning:
      'Events were sent again: one, several, or all that an endpoint had missed since a time. The changes say which.',
  },
  'access_grant.create': {
    target: 'access_grant',
    meaning: 'Privileged access was granted for a limited time.',
  },
  'access_grant.revoke': {
    target: 'access_grant',
    meaning: 'Privileged access was revoked before it expired.',
  },
  'secret.view': { target: 'secret', meaning: 'An API secret was shown.' },
  'secret.rotate': {
    target: 'secret',
    meaning: 'An API secret was rotated, or a new one began to sign webhooks.',
  },
  'sso.add': { target: 'sso_configuration', meaning: 'A single sign-on configuration was added.' },
  'sso.update': { target: 'sso_configuration', meaning: 'A single sign-on configuration was changed.' },
  'sso.enable': { target: 'sso_configuration', meaning: 'Single sign-on was enabled.' },
  'sso.disable': { target: 'sso_configuration', meaning: 'Single sign-on was disabled.' },
  'sso.settings_update': {
    target: 'account',
    meaning: 'The single sign-on settings were changed: who must use it, new users, roles, or two factors.',
  },
  'domain.add': { target: 'domain', meaning: 'A domain was added to the allowed domains.' },
  'domain.remove': { target: 'domain', meaning: 'A domain was removed from the allowed domains.' },
  'domain.prove': {
    target: 'domain',
    meaning: 'A DNS record proved that a domain belongs to the organization.',
  },
  'domain.lose_proof': {
    target: 'domain',
    meaning: 'The DNS record of a proved domain was missing for days, so the domain is no longer proved.',
  },
  'agent.approve': { target: 'agent', meaning: 'A user of a client approved the request of an agent.' },
  'agent.decline': { target: 'agent', meaning: 'A user of a client declined the request of an agent.' },
  'agent.refuse': {
    target: 'agent',
    meaning:
      'The request of an agent ended because it was continued in another browser than the one it began in.',
  },
  'agent.reuse': {
    target: 'agent',
    meaning: 'A code or refresh token was used again, so the connection of the agent ended.',
  },
  'agent.disconnect': { target: 'agent', meaning: 'The connection of an agent was ended.' },
  'sign_in_link.cancel': {
    target: 'sign_in_link',
    meaning: 'A sign-in link was cancelled. The entry names the merchant, not the user.',
  },
  'agent.settings_update': {
    target: 'agent',
    meaning: 'The settings for agents were changed: which agents may log in, or where users log in.',
  },
  'agent.register': { target: 'agent', meaning: 'An agent was registered in advance.' },
  'agent.remove': { target: 'agent', meaning: 'A registered agent was removed.' },
  'client.create': { target: 'api_client', meaning: 'An API client was created.' },
  'client.update': {
    target: 'api_client',
    meaning: 'An API client was named, or an operation was enabled for it.',
  },
  'service_token.create': {
    target: 'service_token',
    meaning: 'A token of the platform’s own services was created. Only in the log of the platform.',
  },
  'service_token.rotate': {
    target: 'service_token',
    meaning: 'A token of the platform’s own services was rotated. Only in the log of the platform.',
  },
  'service_token.revoke': {
    target: 'service_token',
    meaning: 'A token of the platform’s own services was revoked. Only in the log of the platform.',
  },
  'account.create': { target: 'account', meaning: 'The organization was created.' },
  'account.activate': { target: 'account', meaning: 'The account of the organization was activated.' },
  'account.update': { target: 'account', meaning: 'A setting of the organization was changed.' },
  'account.logo_update': { target: 'account', meaning: 'The logo of the app was changed.' },
} as const satisfies Readonly<Record<string, { readonly target: string; readonly meaning: string }>>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** The outcome of an action. `denied`: the user lacks the permission. `failure`: the attempt did not succeed. */
export const AUDIT_OUTCOMES = ['success', 'failure', 'denied'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export const AUDIT_ACTION_NAMES = Object.keys(AUDIT_ACTIONS) as readonly AuditAction[];

export const AUDIT_TARGET_TYPES = [...new Set(Object.values(AUDIT_ACTIONS).map(({ target }) => target))];

/** The types of targets that belong to one environment. All others belong to the whole organization. */
const TARGETS_OF_ENVIRONMENTS: ReadonlySet<string> = new Set<(typeof AUDIT_ACTIONS)[AuditAction]['target']>([
  'agent',
  'api_client',
  'device',
  'external_user',
  'merchant',
  'request_log',
  'secret',
  'sign_in_link',
  'webhook_endpoint',
]);

export function isTargetOfEnvironment(type: string): boolean {
  return TARGETS_OF_ENVIRONMENTS.has(type);
}
