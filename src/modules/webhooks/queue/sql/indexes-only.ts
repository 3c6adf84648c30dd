/**
 * A condition, which is true, of the first part of a statement that claims or settles. PostgreSQL evaluates it once, when it begins to
 * plan the statement, and then plans without sequential scans until the transaction ends. The queue is often empty at that time. For an
 * empty table it would choose a sequential scan, and keep that plan while a long queue builds up:
 * docs/decisions/0032-plans-for-a-long-queue.md.
 */
export const INDEXES_ONLY = 'indexes_only()';
