/** The target of an action. */
interface Target {
  readonly type: string;
  /** Whether targets of this type belong to one environment. All others belong to the whole organization. */
  readonly isOfEnvironment: boolean;
}

/** An action of the audit log, in words. */
export interface AuditActionDescription {
  /** The actor, such as "A user". */
  readonly actor: string;
  readonly target: Target;
  /**
   * The action in the past tense and, after a slash, in the infinitive. `*` is the name of the target; an entry without a name
   * omits it, and the words in parentheses with it.
   */
  readonly did: `${string}/${string}`;
  /** A further note for readers of the API. */
  readonly note: string;
}

/**
 * The names of all actions. Each capability adds its own with `declare module`, so that other names do not compile:
 * see docs/extending-dashboard.md.
 *
 * @public
 */
export interface AuditActions {}

export type AuditAction = keyof AuditActions & string;

const catalog = new Map<string, AuditActionDescription>();
const names: AuditAction[] = [];

/** The names of all actions, in alphabetical order. It grows while the capabilities are loaded. */
export const AUDIT_ACTION_NAMES: readonly AuditAction[] = names;

/**
 * Adds the actions of a capability to the catalog, from which the sentences of the dashboard, the API document and
 * `docs/audit-actions.md` are generated.
 *
 * @throws Error if an action exists
 */
export function auditActions<const Actions extends Readonly<Record<string, AuditActionDescription>>>(
  actions: Actions,
): Actions {
  for (const [name, action] of Object.entries(actions)) {
    if (catalog.has(name)) throw new Error(`Two audit actions are called ${name}: rename one of them.`);
    catalog.set(name, action);
    names.push(name as AuditAction);
  }
  names.sort();
  return actions;
}

/** Returns an action. */
export function auditAction(name: AuditAction): AuditActionDescription;
/** Returns an action; undefined for one that only a later release knows, which was rolled back or is replacing this one. */
export function auditAction(name: string): AuditActionDescription | undefined;
/** Returns an action. */
export function auditAction(name: string): AuditActionDescription | undefined {
  return catalog.get(name);
}

/** A type of target that belongs to one environment. */
export function inEnvironment(type: string): Target {
  return { type, isOfEnvironment: true };
}

/** Returns a function that describes the actions of such an actor. */
export const by =
  (actor: string) =>
  (target: string | Target, did: AuditActionDescription['did'], note = ''): AuditActionDescription => ({
    actor,
    target: typeof target === 'string' ? { type: target, isOfEnvironment: false } : target,
    did,
    note,
  });

export const byUser = by('A user');
export const byUserOrClient = by('A user or an API client');
export const byUserOrService = by('A user or the service');
export const byService = by('The service');
export const byOperator = by('An operator of the platform');
