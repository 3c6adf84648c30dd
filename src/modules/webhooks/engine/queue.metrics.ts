import { Injectable } from '@nestjs/common';
import { GaugeMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { DELIVERY_STATES, QueueOverviewRepository, type QueueOverview } from './queue-overview.repository.js';

const ALL_PROCESSES = 'Of all processes together: take the maximum, not the sum.';

const DELIVERIES = new GaugeMetric({
  name: 'mcs_webhook_deliveries',
  help: `Deliveries in the queue: \`waiting\` for their first attempt, \`retrying\` after one that failed, \`under_way\`. ${ALL_PROCESSES}`,
  labels: ['state'],
});
const OLDEST = new GaugeMetric({
  name: 'mcs_webhook_oldest_delivery_age_seconds',
  help: `For how long the oldest delivery of a state has been due, or under way; 0 when none is. ${ALL_PROCESSES}`,
  labels: ['state'],
});
const LANES_TAKEN = new GaugeMetric({
  name: 'mcs_webhook_lanes_taken',
  help: `Endpoints to which attempts are under way. ${ALL_PROCESSES}`,
});
const LANES_NARROW = new GaugeMetric({
  name: 'mcs_webhook_lanes_narrow',
  help: `Endpoints that get fewer attempts at once because they keep failing. ${ALL_PROCESSES}`,
});

/** What is measured of the queue, in processes that work it off. */
@Injectable()
export class QueueMetrics {
  constructor(metrics: Metrics, repository: QueueOverviewRepository) {
    const reading = metrics.cached('webhook queue', { load: () => repository.overview() });
    const byState = (of: 'deliveries' | 'oldest') => async () => {
      const overview = await reading.read();
      if (overview === undefined) return [];
      return DELIVERY_STATES.map((state) => ({ labels: { state }, value: overview[of][state] }));
    };
    const one = (valueOf: (overview: QueueOverview) => number) => async () => {
      const overview = await reading.read();
      return overview === undefined ? [] : [{ labels: {}, value: valueOf(overview) }];
    };
    metrics.gauge(DELIVERIES, byState('deliveries'));
    metrics.gauge(OLDEST, byState('oldest'));
    metrics.gauge(
      LANES_TAKEN,
      one(({ lanesTaken }) => lanesTaken),
    );
    metrics.gauge(
      LANES_NARROW,
      one(({ lanesNarrow }) => lanesNarrow),
    );
  }
}
