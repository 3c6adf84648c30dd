import { auditAction, type AuditAction } from '../../infrastructure/audit-catalog/index.js';
import { isolated } from '../../infrastructure/pages/index.js';
import { displayNameOf } from '../../infrastructure/validation/index.js';
import type { AuditOutcome } from './audit-outcome.js';
import type { AuditLogEntryResponse } from './audit-log-entry.entity.js';
import { API_CLIENT, API_KEY_EMAIL, OPERATOR, SYSTEM } from './audit-log.js';

/** Returns what an entry says as a sentence without its actor, such as "added the user bob@example.com". */
export function predicateOf(entry: AuditLogEntryResponse): string {
  const { target } = entry;
  const act = actOf(entry, isOwnAccount(entry) ? null : target.name);
  return `${act}${isOfEnvironment(entry) ? ` in ${target.environment}` : ''}`;
}

/** Returns whether users did something to their own accounts, which they know. */
export function isOwnAccount({ event, actor, target }: AuditLogEntryResponse): boolean {
  return event.action.startsWith('auth.') && target.name === actor.email;
}

/** Returns what happened without the actor and, by default, without the target, such as "was not allowed to add a user". */
export function actOf({ event }: AuditLogEntryResponse, name: string | null = null): string {
  const { past, infinitive, object } = phraseOf(event.action, name);
  const verbs: Readonly<Record<AuditOutcome, string>> = {
    success: past,
    failure: `failed to ${infinitive}`,
    denied: `was not allowed to ${infinitive}`,
  };
  return `${verbs[event.outcome.status]}${object}`;
}

/** A later release, which was rolled back or is replacing this one, may have recorded actions that this one does not know. */
function phraseOf(
  action: AuditAction,
  name: string | null = null,
): Record<'past' | 'infinitive' | 'object', string> {
  const { did } = auditAction(action as string) ?? { did: `did/do ${action}` };
  const [, past = '', infinitive = '', words = ''] = /^([^/]+)\/(\S+)(.*)/.exec(did) ?? [];
  const object =
    name === null
      ? words.replace(/ \*| \(.*\)/, '')
      : words
          .replace(/^(.*) an? ([^(]+ \*)/, '$1 the $2')
          .replaceAll(/[()]/g, '')
          .replace('*', () => isolated(name));
  return { past, infinitive, object };
}

/** Returns whether an entry is about one environment. That of a denied attempt may be unknown. */
export function isOfEnvironment({ event }: AuditLogEntryResponse): boolean {
  return (
    event.outcome.status !== 'denied' && auditAction(event.action as string)?.target.isOfEnvironment === true
  );
}

export function subjectOf({ actor: { name, email } }: AuditLogEntryResponse): string {
  if (email === OPERATOR.email) return 'An operator of the platform';
  if (email === API_CLIENT.email) return 'An API client of the organization';
  if (email === API_KEY_EMAIL) return `The API key ${isolated(name)}`;
  return email === SYSTEM.email ? 'The service' : isolated(name);
}

/** Returns an action in words, such as "Add a user". */
export function actionInWords(action: AuditAction): string {
  const { infinitive, object } = phraseOf(action);
  return `${infinitive.charAt(0).toUpperCase()}${infinitive.slice(1)}${object}`;
}

/** The groups whose names differ from the first part of their actions. */
const GROUPS: Readonly<Record<string, string>> = {
  account: 'Organization',
  auth: 'Logins and own accounts',
  client: 'API clients',
  external_user: 'Customers',
  key: 'API keys',
  secret: 'API secrets',
  sign_in_link: 'Sign-in links',
  sso: 'Single sign-on',
  user_login: 'Logins as test users',
  webhook: 'Webhook endpoints',
};

/** Returns the group of an action in words, such as "API keys" for `key.create`. */
export function groupOf(action: AuditAction): string {
  const [name = ''] = action.split('.');
  const words = displayNameOf(name);
  return GROUPS[name] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}s`;
}

/** Returns what an action means, such as "A user added a passkey." */
export function meaningOf(action: AuditAction): string {
  const { past, object } = phraseOf(action);
  const { actor, note } = auditAction(action);
  return `${actor} ${past}${object}. ${note}`.trim();
}
