/** The outcome of an action. `denied`: the user lacks the permission. `failure`: the attempt did not succeed. */
export const AUDIT_OUTCOMES = ['success', 'failure', 'denied'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];
