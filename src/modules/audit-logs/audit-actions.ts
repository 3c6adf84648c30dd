/**
 * Returns a function that describes an action of such an actor: the type of its target, what the actor did in the past tense
 * and, after a slash, in the infinitive, and what readers of the API need to know besides. `*` is the name of the target; an
 * entry without a name omits it, and the words in parentheses with it.
 */
const by =
  (actor: string) =>
  <const Target extends string>(target: Target, did: `${string}/${string}`, note = '') => ({
    actor,
    target,
    did,
    note,
  });

const byUser = by('A user');
const byUserOrClient = by('A user or an API client');
const byClientUser = by('A user of an API client');
const byUserOrService = by('A user or the service');
const byService = by('The service');
const byOperator = by('An operator of the platform');

const PLATFORM_ONLY = 'The entry is in the log of the platform only.';

/**
 * All actions that can be recorded; other names do not compile. The sentences of the dashboard, the API document and
 * `docs/audit-actions.md` are generated from this catalog.
 */
export const AUDIT_ACTIONS = {
  'auth.login': byUser('user', 'logged/log in'),
  'auth.logout': byUser('user', 'logged/log out'),
  'auth.two_factor_enable': byUser('user', 'enabled/enable two-factor authentication'),
  'auth.two_factor_disable': byUser('user', 'disabled/disable two-factor authentication (of *)'),
  'auth.recovery_codes_renew': byUser('user', 'replaced/replace the recovery codes'),
  'auth.passkey_add': byUser('passkey', 'added/add a passkey *'),
  'auth.passkey_rename': byUser('passkey', 'renamed/rename a passkey *'),
  'auth.passkey_remove': byUser('passkey', 'removed/remove a passkey *'),
  'auth.provider_link': byUser(
    'user',
    'was/be linked to an account at the identity provider',
    'This happens at the first login through single sign-on.',
  ),
  'auth.provider_unlink': byUser(
    'user',
    'unlinked/unlink a user from an account at the identity provider',
    'The next login links the user again.',
  ),
  'auth.session_end': byUser('user', 'ended/end other logins', 'The user ended one or all of them.'),
  'auth.password_reset': byUser('user', 'set/set a password with a link from an email'),
  'auth.password_change': byUser('user', 'changed/change the password'),
  'auth.device_approve': byUser('device', 'approved/approve the request of a device (for the API client *)'),
  'auth.device_deny': byUser('device', 'denied/deny the request of a device (for the API client *)'),
  'auth.device_revoke': byUser('device', 'ended/end the access of a device (for the API client *)'),
  'user.add': byUser('user', 'added/add a user *'),
  'user.invite': byUser('user', 'invited/invite a user * again', 'The user had not accepted the invitation.'),
  'user.update': byUser('user', 'changed/change a user *', 'This includes disabling and enabling.'),
  'user.unlock': byUser('user', 'unlocked/unlock a user *', 'This lifts the limits on failed logins.'),
  'user.remove': byUser('user', 'removed/remove a user *'),
  'merchant.activate': byUser('merchant', 'activated/activate a merchant *', 'Users can choose it.'),
  'merchant.hide': byUser('merchant', 'hid/hide a merchant *', 'Users cannot choose it.'),
  'merchant.export': byUser('merchant', 'exported/export the list of merchants'),
  'external_user.erase': byUserOrClient(
    'external_user',
    'requested to erase/erase an external user *',
    'The entry does not name the external user.',
  ),
  'request_log.export': byUser('request_log', 'exported/export the request log'),
  'audit_log.export': byUser('audit_log', 'exported/export the audit log'),
  'audit_stream.update': byUser(
    'audit_stream',
    'changed/change the stream of the audit log',
    'This includes adding and resuming it.',
  ),
  'audit_stream.remove': byUser('audit_stream', 'removed/remove the stream of the audit log'),
  'webhook.create': byUser('webhook_endpoint', 'created/create a webhook endpoint *'),
  'webhook.update': byUserOrService(
    'webhook_endpoint',
    'changed/change a webhook endpoint *',
    'This includes pausing, resuming, disabling and enabling it.',
  ),
  'webhook.delete': byUser('webhook_endpoint', 'deleted/delete a webhook endpoint *'),
  'webhook.resend': byUser(
    'webhook_endpoint',
    'sent/send deliveries (to *) again',
    'The changes say which: one, several, or all that the endpoint had missed since a time.',
  ),
  'access_grant.create': byUser('access_grant', 'granted/grant privileged access (for *)'),
  'access_grant.revoke': byUser('access_grant', 'revoked/revoke privileged access (for *)'),
  'secret.view': byUser('secret', 'viewed/view an API secret (of the API client *)'),
  'secret.rotate': byUser(
    'secret',
    'rotated/rotate an API secret (of the API client *)',
    'This includes using the new one to sign webhooks.',
  ),
  'sso.add': byUser('sso_configuration', 'added/add a single sign-on configuration *'),
  'sso.update': byUserOrService('sso_configuration', 'changed/change a single sign-on configuration *'),
  'sso.enable': byUser('sso_configuration', 'enabled/enable a single sign-on configuration *'),
  'sso.disable': byUser('sso_configuration', 'disabled/disable a single sign-on configuration *'),
  'sso.settings_update': byUser(
    'account',
    'changed/change the single sign-on settings',
    'They cover who must use it, new users, roles and two factors.',
  ),
  'domain.add': byUser('domain', 'added/add an allowed domain *'),
  'domain.remove': byUser('domain', 'removed/remove an allowed domain *'),
  'domain.prove': byUser('domain', 'proved/prove a domain *', 'A DNS record shows who owns it.'),
  'domain.lose_proof': byService(
    'domain',
    'lost/lose the proof of a domain (named *)',
    'The DNS record was missing for days.',
  ),
  'agent.approve': byClientUser('agent', 'approved/approve an agent (named *)'),
  'agent.decline': byClientUser('agent', 'declined/decline an agent (named *)'),
  'agent.refuse': byService(
    'agent',
    'ended/end a request of an agent *',
    'It was continued in another browser than the one it began in.',
  ),
  'agent.reuse': byService(
    'agent',
    'ended/end a connection with copied tokens of an agent *',
    'A code or refresh token was used again.',
  ),
  'agent.disconnect': by('A user, an API client or the agent')(
    'agent',
    'ended/end a connection of an agent *',
  ),
  'sign_in_link.cancel': byUserOrClient(
    'sign_in_link',
    'cancelled/cancel a sign-in link (for *)',
    'The entry names the merchant, not the user.',
  ),
  'agent.settings_update': byUser(
    'agent',
    'changed/change the settings for agents',
    'They say which agents may log in, and where users log in.',
  ),
  'agent.register': byUser('agent', 'registered/register an agent (named *)'),
  'agent.remove': byUser('agent', 'removed/remove a registered agent (named *)'),
  'client.create': byOperator('api_client', 'created/create an API client *'),
  'client.update': byUser(
    'api_client',
    'changed/change an API client *',
    'This includes enabling an operation.',
  ),
  'service_token.create': byOperator('service_token', 'created/create a service token *', PLATFORM_ONLY),
  'service_token.rotate': byOperator('service_token', 'rotated/rotate a service token *', PLATFORM_ONLY),
  'service_token.revoke': byOperator('service_token', 'revoked/revoke a service token *', PLATFORM_ONLY),
  'account.create': byOperator('account', 'created/create an organization *'),
  'account.activate': byUser('account', 'activated/activate the account of the organization (*)'),
  'account.update': byUser('account', 'changed/change a setting of the organization (*)'),
  'account.logo_update': byUser('account', 'changed/change the logo of the app'),
} as const;

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
