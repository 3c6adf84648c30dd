import { isolated } from '../../infrastructure/pages/index.js';
import { isTargetOfEnvironment, type AuditAction, type AuditOutcome } from './audit-actions.js';
import type { AuditLogEntryResponse } from './audit-log-entry.entity.js';
import { API_CLIENT, OPERATOR, SYSTEM } from './audit-log.js';

/** What an action does, in the past tense and in the infinitive, and to what. */
type Phrase = readonly [past: string, infinitive: string, object?: (name: string | null) => string];

/** Returns the object of an action: with the name that was recorded, or without one. */
function the(noun: string): (name: string | null) => string {
  const article = /^[aeo]/i.test(noun) ? 'an' : 'a';
  return (name) => (name === null ? `${article} ${noun}` : `the ${noun} ${name}`);
}

/** Returns the object of an action that may name what it belongs to. */
function optionally(object: string, preposition: string): (name: string | null) => string {
  return (name) => (name === null ? object : `${object} ${preposition} ${name}`);
}

const DEVICE = optionally('the request of a device', 'for the API client');
const AGENT = optionally('an agent', 'named');
const GRANT = optionally('privileged access', 'for');
const SECRET = optionally('an API secret', 'of the API client');

const PHRASES: Readonly<Record<AuditAction, Phrase>> = {
  'auth.login': ['logged in', 'log in'],
  'auth.logout': ['logged out', 'log out'],
  'auth.two_factor_enable': ['enabled two-factor authentication', 'enable two-factor authentication'],
  'auth.two_factor_disable': ['disabled', 'disable', optionally('two-factor authentication', 'of')],
  'auth.recovery_codes_renew': ['replaced the recovery codes', 'replace the recovery codes'],
  'auth.passkey_add': ['added', 'add', the('passkey')],
  'auth.passkey_rename': ['renamed', 'rename', the('passkey')],
  'auth.passkey_remove': ['removed', 'remove', the('passkey')],
  'auth.provider_link': [
    'was linked to an account at the identity provider',
    'be linked to an account at the identity provider',
  ],
  'auth.provider_unlink': [
    'unlinked a user from an account at the identity provider',
    'unlink a user from an account at the identity provider',
  ],
  'auth.session_end': ['ended other logins', 'end other logins'],
  'auth.password_reset': [
    'set a password with a link from an email',
    'set a password with a link from an email',
  ],
  'auth.password_change': ['changed the password', 'change the password'],
  'auth.device_approve': ['approved', 'approve', DEVICE],
  'auth.device_deny': ['denied', 'deny', DEVICE],
  'auth.device_revoke': ['ended', 'end', optionally('the access of a device', 'for the API client')],
  'user.add': ['added', 'add', the('user')],
  'user.invite': ['invited', 'invite', (name) => `${the('user')(name)} again`],
  'user.update': ['changed', 'change', the('user')],
  'user.unlock': ['unlocked', 'unlock', the('user')],
  'user.remove': ['removed', 'remove', the('user')],
  'merchant.activate': ['activated', 'activate', the('merchant')],
  'merchant.hide': ['hid', 'hide', the('merchant')],
  'merchant.export': ['exported the list of merchants', 'export the list of merchants'],
  'external_user.erase': ['requested to erase', 'erase', the('external user')],
  'request_log.export': ['exported the request log', 'export the request log'],
  'audit_log.export': ['exported the audit log', 'export the audit log'],
  'audit_stream.update': ['changed the stream of the audit log', 'change the stream of the audit log'],
  'audit_stream.remove': ['removed the stream of the audit log', 'remove the stream of the audit log'],
  'webhook.create': ['created', 'create', the('webhook endpoint')],
  'webhook.update': ['changed', 'change', the('webhook endpoint')],
  'webhook.delete': ['deleted', 'delete', the('webhook endpoint')],
  'webhook.resend': [
    'sent',
    'send',
    (name) => (name === null ? 'deliveries again' : `deliveries to ${name} again`),
  ],
  'access_grant.create': ['granted', 'grant', GRANT],
  'access_grant.revoke': ['revoked', 'revoke', GRANT],
  'secret.view': ['viewed', 'view', SECRET],
  'secret.rotate': ['rotated', 'rotate', SECRET],
  'sso.add': ['added', 'add', the('single sign-on configuration')],
  'sso.update': ['changed', 'change', the('single sign-on configuration')],
  'sso.enable': ['enabled', 'enable', the('single sign-on configuration')],
  'sso.disable': ['disabled', 'disable', the('single sign-on configuration')],
  'sso.settings_update': ['changed the single sign-on settings', 'change the single sign-on settings'],
  'domain.add': ['added', 'add', the('allowed domain')],
  'domain.remove': ['removed', 'remove', the('allowed domain')],
  'domain.prove': ['proved', 'prove', the('domain')],
  'domain.lose_proof': ['lost', 'lose', optionally('the proof of a domain', 'named')],
  'agent.approve': ['approved', 'approve', AGENT],
  'agent.decline': ['declined', 'decline', AGENT],
  'agent.refuse': ['ended', 'end', optionally('a request', 'of the agent')],
  'agent.reuse': ['ended', 'end', optionally('a connection with copied tokens', 'of the agent')],
  'agent.disconnect': ['ended', 'end', optionally('a connection', 'of the agent')],
  'sign_in_link.cancel': ['cancelled', 'cancel', optionally('a sign-in link', 'for')],
  'agent.settings_update': ['changed the settings for agents', 'change the settings for agents'],
  'agent.register': ['registered', 'register', AGENT],
  'agent.remove': ['removed', 'remove', optionally('a registered agent', 'named')],
  'client.create': ['created', 'create', the('API client')],
  'client.update': ['changed', 'change', the('API client')],
  'service_token.create': ['created', 'create', the('service token')],
  'service_token.rotate': ['rotated', 'rotate', the('service token')],
  'service_token.revoke': ['revoked', 'revoke', the('service token')],
  'account.create': ['created', 'create', the('organization')],
  'account.activate': ['activated', 'activate', optionally('the account', 'of the organization')],
  'account.update': ['changed', 'change', optionally('a setting', 'of the organization')],
  'account.logo_update': ['changed the logo of the app', 'change the logo of the app'],
};

const BEGINNINGS: Readonly<Record<AuditOutcome, (phrase: Phrase) => string>> = {
  success: ([past]) => past,
  failure: ([, infinitive]) => `failed to ${infinitive}`,
  denied: ([, infinitive]) => `was not allowed to ${infinitive}`,
};

/** Returns what an entry says as a sentence without its actor, such as "added the user bob@example.com". */
export function predicateOf(entry: AuditLogEntryResponse): string {
  const { event, actor, target } = entry;
  const outcome = event.outcome.status;
  const phrase = phraseOf(event.action);
  // Users know that they log in to their own account.
  const isOwnAccount = event.action.startsWith('auth.') && target.name === actor.email;
  const object = phrase[2]?.(isOwnAccount || target.name === null ? null : isolated(target.name));
  return [
    BEGINNINGS[outcome](phrase),
    ...(object ? [object] : []),
    ...(isOfEnvironment(entry) ? [`in ${target.environment}`] : []),
  ].join(' ');
}

/** A later release, which was rolled back or is replacing this one, may have recorded actions that this one does not know. */
function phraseOf(action: AuditAction): Phrase {
  const phrases: Readonly<Partial<Record<string, Phrase>>> = PHRASES;
  return phrases[action] ?? [`did ${action}`, `do ${action}`];
}

/** Returns whether an entry is about one environment. That of a denied attempt may be unknown. */
export function isOfEnvironment({ event, target }: AuditLogEntryResponse): boolean {
  return event.outcome.status !== 'denied' && isTargetOfEnvironment(target.type);
}

export function subjectOf({ actor: { name, email } }: AuditLogEntryResponse): string {
  if (email === OPERATOR.email) return 'An operator of the platform';
  if (email === API_CLIENT.email) return 'An API client of the organization';
  return email === SYSTEM.email ? 'The service' : isolated(name);
}

/** Returns an action in words, such as "Add a user". */
export function actionInWords(action: AuditAction): string {
  const [, infinitive, object] = PHRASES[action];
  const words = object ? `${infinitive} ${object(null)}` : infinitive;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
