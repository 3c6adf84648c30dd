import { MetricsServer } from '../../../src/infrastructure/metrics/index.js';
import type { TestApp } from '../test-app.js';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the metrics of a service at `/metrics`. */
export interface Scraper {
  readonly url: string;
  /** The response in the Prometheus text format. */
  text(): Promise<string>;
  samples(): Promise<Sample[]>;
  /** Returns the sum of all samples with the name and labels, or undefined if there are none. */
  value(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined>;
}

/** Starts the metrics server of a service that was created with `METRICS_PORT`. */
export async function serveMetrics(service: TestApp): Promise<Scraper> {
  const url = await service.app.get(MetricsServer).listen();
  if (url === undefined) throw new Error('The service was started without METRICS_PORT');
  return scraperOf(url);
}

export function scraperOf(url: string): Scraper {
  const text = async (): Promise<string> => (await fetch(url)).text();
  const samples = async (): Promise<Sample[]> => samplesOf(await text());
  return {
    url,
    text,
    samples,
    async value(name, labels = {}) {
      const found = samplesOf(await text(), name).filter((sample) =>
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

/**
 * Parses the parts of the Prometheus text format that the service uses.
 *
 * @param wanted the name of the samples; the default is all. Parsing a response takes longer than its request.
 */
function samplesOf(text: string, wanted?: string): Sample[] {
  return text
    .split('\n')
    .filter((line) =>
      wanted === undefined
        ? line !== '' && !line.startsWith('#')
        : line.startsWith(wanted) && /^[{ ]/.test(line.slice(wanted.length)),
    )
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
        value: Number(value),
      };
    });
}
