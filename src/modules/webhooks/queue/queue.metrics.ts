import { Injectable } from '@nestjs/common';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { QUEUE_STATES, DeliveryQueueRepository } from './delivery-queue.repository.js';

const ALL_PROCESSES = 'Covers all processes: take the maximum, not the sum.';

const DELIVERIES = new GaugeMetric({
  name: 'mcs_webhook_deliveries',
  help: `Deliveries in the queue: \`waiting\` for the first attempt, \`retrying\` after a failed one, or \`in_flight\`. ${ALL_PROCESSES}`,
  labels: ['state'],
});
const OLDEST = new GaugeMetric({
  name: 'mcs_webhook_oldest_delivery_age_seconds',
  help: `Seconds for which the oldest delivery in a state has been due or in flight; 0 if there is none. ${ALL_PROCESSES}`,
  labels: ['state'],
});
const LANES_ACTIVE = new GaugeMetric({
  name: 'mcs_webhook_lanes_active',
  help: `Endpoints with delivery attempts in flight. ${ALL_PROCESSES}`,
});
const LANES_NARROW = new GaugeMetric({
  name: 'mcs_webhook_lanes_narrow',
  help: `Endpoints that get fewer concurrent attempts because they keep failing. ${ALL_PROCESSES}`,
});

/** Metrics of the queue, read from the database and reported by processes that do background work. */
@Injectable()
export class QueueMetrics {
  constructor(metrics: Metrics, repository: DeliveryQueueRepository) {
    const cached = metrics.cached('webhook queue', { load: () => repository.overview() });
    const byState = (field: 'deliveries' | 'oldest') => async () => {
      const overview = await cached.read();
      if (overview === undefined) return [];
      return QUEUE_STATES.map((state) => ({ labels: { state }, value: overview[field][state] }));
    };
    metrics.gauge(DELIVERIES, byState('deliveries'));
    metrics.gauge(OLDEST, byState('oldest'));
    metrics.value(LANES_ACTIVE, async () => (await cached.read())?.lanesActive);
    metrics.value(LANES_NARROW, async () => (await cached.read())?.lanesNarrow);
  }
}
