import { isolated } from '../../infrastructure/pages/index.js';
import {
  AUDIT_ACTIONS,
  isTargetOfEnvironment,
  type AuditAction,
  type AuditOutcome,
} from './audit-actions.js';
import type { AuditLogEntryResponse } from './audit-log-entry.entity.js';
import { API_CLIENT, OPERATOR, SYSTEM } from './audit-log.js';

/** Returns what an entry says as a sentence without its actor, such as "added the user bob@example.com". */
export function predicateOf(entry: AuditLogEntryResponse): string {
  const { event, actor, target } = entry;
  // Users know that they log in to their own account.
  const isOwnAccount = event.action.startsWith('auth.') && target.name === actor.email;
  const { past, infinitive, object } = phraseOf(event.action, isOwnAccount ? null : target.name);
  const verbs: Readonly<Record<AuditOutcome, string>> = {
    success: past,
    failure: `failed to ${infinitive}`,
    denied: `was not allowed to ${infinitive}`,
  };
  return `${verbs[event.outcome.status]}${object}${isOfEnvironment(entry) ? ` in ${target.environment}` : ''}`;
}

/** A later release, which was rolled back or is replacing this one, may have recorded actions that this one does not know. */
function phraseOf(
  action: AuditAction,
  name: string | null = null,
): Record<'past' | 'infinitive' | 'object', string> {
  const actions: Readonly<Partial<Record<string, { readonly did: string }>>> = AUDIT_ACTIONS;
  const { did } = actions[action] ?? { did: `did/do ${action}` };
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
  const { infinitive, object } = phraseOf(action);
  return `${infinitive.charAt(0).toUpperCase()}${infinitive.slice(1)}${object}`;
}

/** Returns what an action means, such as "A user added a passkey." */
export function meaningOf(action: AuditAction): string {
  const { past, object } = phraseOf(action);
  const { actor, note } = AUDIT_ACTIONS[action];
  return `${actor} ${past}${object}. ${note}`.trim();
}
