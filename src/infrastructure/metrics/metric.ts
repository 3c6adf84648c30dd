/** Upper bounds of the buckets, in seconds. The last is the time limit of a statement or a delivery attempt. */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface MetricDescription<Label extends string> {
  /** With the prefix `mcs_` and the unit as suffix, as Prometheus recommends (`_seconds`, `_total`). */
  readonly name: string;
  /** Shown in the docs and in Prometheus. */
  readonly help: string;
  /** Each label must have few values: never an ID, an address or a requested path. */
  readonly labels?: readonly Label[];
}

const catalog: Metric<string>[] = [];

/**
 * The declaration of a metric, next to the code that it measures. `Metrics` holds the values per application. The
 * table in the docs is generated from the declarations.
 */
abstract class Metric<Label extends string> {
  abstract readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];

  constructor({ name, help, labels = [] }: MetricDescription<Label>) {
    this.name = name;
    this.help = help;
    this.labels = labels;
    catalog.push(this);
  }
}

/** Counts events since the process started. */
export class CounterMetric<Label extends string = never> extends Metric<Label> {
  readonly type = 'counter';
}

/** A current value, read when Prometheus scrapes. */
export class GaugeMetric<Label extends string = never> extends Metric<Label> {
  readonly type = 'gauge';
}

/** Durations in seconds. */
export class HistogramMetric<Label extends string = never> extends Metric<Label> {
  readonly type = 'histogram';
  readonly buckets: readonly number[] = DURATION_BUCKETS;
}

/** Returns every metric that the imported modules declare. */
export function metricCatalog(): readonly Metric<string>[] {
  return catalog;
}
