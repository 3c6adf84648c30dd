import { Injectable, Logger } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { CachedValue, type CachedValueOptions } from './cached-value.js';
import { CounterMetric, type GaugeMetric, type HistogramMetric } from './metric.js';

type Labels<Label extends string> = Readonly<Record<Label, string | number>>;

export interface CounterValue<Label extends string> {
  /** @param value how many; 0 shows the series before anything has happened */
  inc(labels: Labels<Label>, value?: number): void;
}

export interface HistogramValue<Label extends string> {
  observe(labels: Labels<Label>, seconds: number): void;
}

/** What a gauge shows, of which labels. */
export interface Measurement<Label extends string> {
  readonly labels: Labels<Label>;
  readonly value: number;
}

const READING_FAILURES = new CounterMetric({
  name: 'mcs_metrics_reading_failures_total',
  help: 'Metrics that could not be read, or not within a second, and were left out of an answer.',
  labels: ['source'],
});

/** The values of all metrics in this application. Two of them in one process, as in tests, share none. */
@Injectable()
export class Metrics {
  private readonly logger = new Logger('Metrics');
  private readonly registry = new Registry();
  private readonly readingFailures = this.counter(READING_FAILURES);

  counter<Label extends string>({ name, help, labels }: CounterMetric<Label>): CounterValue<Label> {
    return new Counter({ name, help, labelNames: labels, registers: [this.registry] });
  }

  histogram<Label extends string>(metric: HistogramMetric<Label>): HistogramValue<Label> {
    const { name, help, labels } = metric;
    const buckets = [...metric.buckets];
    return new Histogram({ name, help, labelNames: labels, buckets, registers: [this.registry] });
  }

  /** @param read called whenever Prometheus asks; what it leaves out is not shown */
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
        // What nobody knows is not 0, which is what `reset` makes of a gauge without labels.
        if (labels.length > 0) gauge.reset();
        else gauge.remove();
        for (const { labels: of, value } of readings) gauge.set(of, value);
      },
    });
  }

  /** For gauges whose values cost a statement. @param source says in the metrics what could not be read */
  cached<T>(source: string, options: Omit<CachedValueOptions<T>, 'onFailure'>): CachedValue<T> {
    this.readingFailures.inc({ source }, 0);
    const onFailure = (error: unknown): void => {
      this.readingFailures.inc({ source });
      this.logger.warn(`${source} could not be read: ${(error as Error).message}`);
    };
    return new CachedValue({ ...options, onFailure });
  }

  /** What the process itself needs: CPU, memory, the delay of the event loop. Measured from now on. */
  includeProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Everything, in Prometheus' text format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}
