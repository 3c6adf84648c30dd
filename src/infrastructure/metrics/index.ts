export { CachedValue } from './cached-value.js';
export {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  metricCatalog,
  Metrics,
  type CounterValue,
} from './metrics.js';
export { MetricsConfiguration } from './metrics.configuration.js';
export { MetricsModule, MetricsServer } from './metrics-server.js';
