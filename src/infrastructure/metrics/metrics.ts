import { Injectable, Logger } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { CachedValue, type CachedValueOptions } from '../caching/index.js';
import { VERSION } from '../project-files/index.js';

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

type Labels<Label extends string> = Readonly<Record<Label, string | number>>;

export interface CounterValue<Label extends string> {
  /** @param value the increment; 0 creates the series before the first event */
  inc(labels: Labels<Label>, value?: number): void;
}

export interface HistogramValue<Label extends string> {
  observe(labels: Labels<Label>, seconds: number): void;
}

export interface Measurement<Label extends string> {
  readonly labels: Labels<Label>;
  readonly value: number;
}

const READING_FAILURES = new CounterMetric({
  name: 'mcs_metrics_reading_failures_total',
  help: 'Metrics that could not be read within a second and were left out of a response.',
  labels: ['source'],
});

const BUILD_INFO = new GaugeMetric({
  name: 'mcs_build_info',
  help: 'Always 1. The label is the version of the process.',
  labels: ['version'],
});

/** The values of all metrics of an application. If one process runs several applications, as in tests, each has its own values. */
@Injectable()
export class Metrics {
  private readonly logger = new Logger('Metrics');
  private readonly registry = new Registry();
  private readonly readingFailures = this.counter(READING_FAILURES);

  constructor() {
    this.gauge(BUILD_INFO, () => [{ labels: { version: VERSION }, value: 1 }]);
  }

  counter<Label extends string>({ name, help, labels }: CounterMetric<Label>): CounterValue<Label> {
    return new Counter({ name, help, labelNames: labels, registers: [this.registry] });
  }

  histogram<Label extends string>(metric: HistogramMetric<Label>): HistogramValue<Label> {
    const { name, help, labels } = metric;
    const buckets = [...metric.buckets];
    return new Histogram({ name, help, labelNames: labels, buckets, registers: [this.registry] });
  }

  /** @param read called for each scrape; values that it leaves out are not exported */
  gauge<Label extends string>(
    { name, help, labels }: GaugeMetric<Label>,
    read: () => readonly Measurement<Label>[] | Promise<readonly Measurement<Label>[]>,
  ): void {
    const gauge: Gauge<Label> = new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      collect: async () => {
        const readings = await read();
        // `reset` would set a gauge without labels to 0, although its value may be unknown.
        if (labels.length > 0) gauge.reset();
        else gauge.remove();
        for (const { labels: values, value } of readings) gauge.set(values, value);
      },
    });
  }

  /** A gauge without labels. @param read returns undefined if the value is not known, which is not exported */
  value(metric: GaugeMetric, read: () => number | undefined | Promise<number | undefined>): void {
    this.gauge(metric, async () => {
      const value = await read();
      return value === undefined ? [] : [{ labels: {}, value }];
    });
  }

  /**
   * Creates a cached value for gauges that cost a database statement.
   *
   * @param source names the value in the metric of reading failures
   */
  cached<T>(source: string, options: Omit<CachedValueOptions<T>, 'onFailure'>): CachedValue<T> {
    this.readingFailures.inc({ source }, 0);
    const onFailure = (error: unknown): void => {
      this.readingFailures.inc({ source });
      this.logger.warn(`${source} could not be read: ${(error as Error).message}`);
    };
    return new CachedValue({ ...options, onFailure });
  }

  includeProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}
