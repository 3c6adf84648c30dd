import { Global, Logger, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClsPluginTransactional } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { ClsModule } from 'nestjs-cls';
import { DataSource } from 'typeorm';
import { entityClasses } from '../framework-patches/index.js';
import { SECOND } from '../time/index.js';
import { JobLock } from './advisory-lock.js';
import { DailyPartitions } from './daily-partitions.js';
import { DatabaseClock } from './database-clock.js';
import { DatabaseProbe } from './database-inspection.js';
import { DatabaseConfiguration } from './database.configuration.js';
import { dataSourceOptions } from './data-source-options.js';
import { ExpiryJob } from './expiry.job.js';
import { JobFailures } from './job-failures.js';
import { Notifications } from './notifications.js';
import { OutsideChecks } from './outside-checks.js';
import { OverdueWork } from './overdue-work.js';
import { PoolMetrics, ReadPools } from './read-pools.js';
import { ReadReplica } from './read-replica.js';
import { PartitionRotation } from './partition-rotation.job.js';
import { JobShutdown } from './recurring-job.js';
import { isTemporarilyUnavailable } from './sql-state.js';
import { Transaction } from './transaction.js';

const RETRY_DELAY = SECOND;
/** Placeholder URL for generating the API document, which opens no connection. */
const NO_DATABASE = 'postgres://none.invalid/none';

const SERVICES = [
  Transaction,
  DatabaseClock,
  DatabaseProbe,
  JobFailures,
  JobLock,
  JobShutdown,
  Notifications,
  DailyPartitions,
  ReadPools,
  OutsideChecks,
  OverdueWork,
  PartitionRotation,
  PoolMetrics,
];

/** Global, because every repository depends on it. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [DatabaseConfiguration],
      useFactory: (configuration: DatabaseConfiguration) => ({
        ...dataSourceOptions({
          ...configuration,
          url: configuration.url ?? NO_DATABASE,
          onIdleConnectionLost: (error) =>
            new Logger('Database').warn(`A connection was lost: ${(error as Error).message}`),
        }),
        entities: entityClasses(),
        manualInitialization: configuration.url === undefined,
        retryAttempts: 1 + Math.ceil(configuration.startTimeoutMilliseconds / RETRY_DELAY),
        retryDelay: RETRY_DELAY,
        toRetry: isTemporarilyUnavailable,
      }),
    }),
    // Only the plugin: ClsModule.forRoot would add a guard and an interceptor to every request. The interceptor
    // alone costs a tenth of the throughput, and transactions begin below the HTTP layer anyway.
    ClsModule.registerPlugins([
      new ClsPluginTransactional({
        imports: [TypeOrmModule],
        adapter: new TransactionalAdapterTypeOrm({ dataSourceToken: DataSource }),
      }),
    ]),
  ],
  providers: [...SERVICES, ReadReplica, ExpiryJob],
  exports: SERVICES,
})
export class DatabaseModule {}
