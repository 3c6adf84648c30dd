/** The fields of the API, as paths, in the order in which they are hashed and exported. */
export const AUDIT_LOG_COLUMNS = [
  'id',
  'datetime',
  'event.action',
  'event.outcome.status',
  'actor.name',
  'actor.email',
  'target.type',
  'target.name',
  'target.environment',
  'context.ip',
  'context.user_agent',
];
