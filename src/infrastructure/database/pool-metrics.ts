import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { GaugeMetric, Metrics } from '../metrics/index.js';

const CONNECTIONS = new GaugeMetric({
  name: 'mcs_database_pool_connections',
  help: 'Open connections, by state: `idle` or `in_use`.',
  labels: ['pool', 'state'],
});
const LIMIT = new GaugeMetric({
  name: 'mcs_database_pool_limit',
  help: 'Maximum number of open connections.',
  labels: ['pool'],
});
const WAITING = new GaugeMetric({
  name: 'mcs_database_pool_waiting',
  help: 'Number of statements and transactions that wait for a connection.',
  labels: ['pool'],
});

/** Metrics of the connection pools. */
@Injectable()
export class PoolMetrics {
  private readonly watched = new Map<string, () => pg.Pool | undefined>();

  constructor(metrics: Metrics, dataSource: DataSource) {
    this.watch('main', () => (dataSource.driver as { master?: pg.Pool }).master);
    metrics.gauge(CONNECTIONS, () =>
      this.pools().flatMap(([pool, { totalCount, idleCount }]) => [
        { labels: { pool, state: 'idle' }, value: idleCount },
        { labels: { pool, state: 'in_use' }, value: totalCount - idleCount },
      ]),
    );
    metrics.gauge(LIMIT, () =>
      this.pools().map(([pool, { options }]) => ({ labels: { pool }, value: options.max })),
    );
    metrics.gauge(WAITING, () =>
      this.pools().map(([pool, { waitingCount }]) => ({ labels: { pool }, value: waitingCount })),
    );
  }

  /** Adds a pool. @param name the value of its label `pool` */
  watch(name: string, pool: () => pg.Pool | undefined): void {
    this.watched.set(name, pool);
  }

  private pools(): [string, pg.Pool][] {
    return [...this.watched].flatMap(([name, getPool]) => {
      const pool = getPool();
      return pool ? [[name, pool]] : [];
    });
  }
}
