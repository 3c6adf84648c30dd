/** Seconds: from an answer out of memory to the longest that a statement or a receiver may take. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface MetricDescription<Label extends string> {
  /** With `mcs_` before it and its unit behind it, as Prometheus has it (`_seconds`, `_total`). */
  readonly name: string;
  /** For whoever makes a dashboard of it. */
  readonly help: string;
  /** Each of few values: never an id, an address or a path as it was asked for. */
  readonly labels?: readonly Label[];
}

const catalogue: Metric<string>[] = [];

/**
 * Something that is measured. Each module declares its own beside what it measures; the values are kept apart from
 * it, by the `Metrics` of each application. The table of the docs is generated from them.
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
    catalogue.push(this);
  }
}

/** How often something happened since the process started. */
export class CounterMetric<Label extends string = never> extends Metric<Label> {
  readonly type = 'counter';
}

/** How much there is of something, read when Prometheus asks. */
export class GaugeMetric<Label extends string = never> extends Metric<Label> {
  readonly type = 'gauge';
}

/** How long something took, in seconds. */
export class HistogramMetric<Label extends string = never> extends Metric<Label> {
  readonly type = 'histogram';
  readonly buckets: readonly number[] = DURATIONS;
}

/** Every metric that the imported modules declare. */
export function metricCatalogue(): readonly Metric<string>[] {
  return catalogue;
}
