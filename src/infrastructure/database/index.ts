export { JobLock } from './advisory-lock.js';
export { countMisplaced, DailyPartitions, type PartitionStatus } from './daily-partitions.js';
export { MAX_CLOCK_LEAD } from './database-clock.js';
export { DatabaseConfiguration } from './database.configuration.js';
export { DatabaseProbe } from './database-probe.js';
export { DatabaseModule } from './database.module.js';
export { checkDistribution, failedNodeConnections } from './distribution/check-distribution.js';
export { distribute } from './distribution/distribute.js';
export { DeleteAfter, ExpiryJob } from './expiry.job.js';
export { Client } from './client.js';
export { BatchedStatement, RowDropped } from './batched-statement.js';
export { inspectDatabase, type DatabaseInspection } from './database-inspection.js';
export { KeyedQueue } from './keyed-queue.js';
export { checkDatabase, migrate, migrateConfigured } from './migrate.js';
export { Notifications, presentProcesses, type Subscription } from './notifications.js';
export { prepared } from './client.js';
export { QueryTimeout, ReadPools, type ReadOptions, type ReadPool } from './read-pools.js';
export { inspectReplica } from './read-replica.js';
export { repeatedOnce } from './repeat.js';
export { RecurringJob } from './recurring-job.js';
export { PartitionRotation } from './partition-rotation.job.js';
export { settledId } from './id-sequence.js';
export {
  isDatabaseUnavailable,
  isMissingPartition,
  isRefusal,
  isTransient,
  isTransientFailure,
  unlessDuplicate,
  violatesUnique,
} from './sql-state.js';
export { requireSessions } from './session-pooling.js';
export { inPositions, Statement, type Positioned } from './statement.js';
export { Snapshot, Transaction, Transactional } from './transaction.js';
