export { Leadership } from './advisory-lock.js';
export { DailyPartitions } from './daily-partitions.js';
export { DatabaseConfiguration } from './database.configuration.js';
export { DatabaseModule } from './database.module.js';
export { GroupCommit, RowDropped } from './group-commit.js';
export { checkDatabase, migrate } from './migrate.js';
export { Notifications, type Listening } from './notifications.js';
export { isDatabaseUnavailable, missedPartition, violatesUnique } from './sql-state.js';
export { Snapshot, Transaction, Transactional, TransactionalApart } from './transaction.js';
