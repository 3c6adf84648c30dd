import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { metricCatalog } from '../../../src/infrastructure/metrics/index.js';
import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { longestDelay } from '../../../src/modules/webhooks/delivery.js';
import { serveMetrics, type Sample, type Scraper } from '../../support/logs/metrics.js';
import { readExpression } from '../../support/logs/promql.js';
import { useTestApp } from '../../support/test-app.js';

/** Labels that Prometheus adds. */
const LABELS_OF_PROMETHEUS = ['instance', 'job'];
const METRICS_OF_PROMETHEUS = ['up'];

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: {
    readonly summary: string;
    readonly description: string;
    readonly runbook_url: string;
  };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

const committed = (file: string): string =>
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'monitoring', file), 'utf8');

const rules = (parse(committed('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(committed('grafana-dashboard.json')) as Dashboard;
const targets = dashboard.panels.flatMap(({ title, targets: of = [] }) =>
  of.map(({ expr, legendFormat }) => ({ place: `panel ${title}`, text: expr, legend: legendFormat })),
);
const EXPRESSIONS: [place: string, text: string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [`alert ${alert}`, expr]),
  ...targets.map(({ place, text }): [string, string] => [place, text]),
];

const service = useTestApp({ METRICS_PORT: '0' }, { backgroundWork: true });
let metrics: Scraper;
let samples: Sample[];
/** Metric names of the `# TYPE` lines. */
let types: Map<string, string>;

beforeAll(async () => {
  metrics = await serveMetrics(service);
  await service.request('/healthz');
  samples = await metrics.samples();
  const lines = (await metrics.text()).matchAll(/^# TYPE (\w+) (\w+)$/gm);
  types = new Map([...lines].map(([, name = '', type = '']) => [name, type]));
});

/** Returns the labels of a series, or undefined if the service has no such metric. */
function labelsOf(metric: string): string[] | undefined {
  const base = types.has(metric) ? metric : metric.replace(/_(?:bucket|sum|count)$/, '');
  const type = types.get(base);
  if (type === undefined || (type === 'histogram') === (base === metric)) return undefined;
  const declared = metricCatalog().find(({ name }) => name === base);
  const own = declared
    ? declared.labels
    : samples.filter(({ name }) => name === base).flatMap(({ labels }) => Object.keys(labels));
  return [...own, ...(metric.endsWith('_bucket') ? ['le'] : []), ...LABELS_OF_PROMETHEUS];
}

/** Returns the fixed values of a label, or undefined if the values are dynamic. */
function valuesOf(metric: string, label: string): string[] | undefined {
  if (label === 'route') {
    const document = readFileSync(join(import.meta.dirname, '..', '..', '..', 'openapi.json'), 'utf8');
    return Object.keys((JSON.parse(document) as { paths: object }).paths);
  }
  if (label === 'status' || LABELS_OF_PROMETHEUS.includes(label)) return undefined;
  const values = samples.filter(({ name }) => name === metric).map(({ labels }) => labels[label] ?? '');
  return values.length > 0 ? values : undefined;
}

describe('The exported metrics', () => {
  it('are exactly the declared metrics', () => {
    const exported = [...types.keys()].filter((name) => name.startsWith('mcs_'));
    expect(exported.toSorted()).toEqual(
      metricCatalog()
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  it.each(metricCatalog().map((metric) => [metric.name, metric] as const))(
    '%s follows the naming conventions of Prometheus',
    (name, { type, help, labels }) => {
      expect(name).toMatch(/^mcs_[a-z]+(?:_[a-z]+)+$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
      expect(name).not.toMatch(/_(?:bucket|sum|count|ms|milliseconds|days)$/);
      expect(help).toMatch(/^[A-Z0-9].*\.$/s);
      for (const label of labels) expect(label).toMatch(/^[a-z]+$/);
    },
  );
});

describe('Alerts and dashboard', () => {
  it('are read from the files', () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(targets.length).toBeGreaterThan(20);
  });

  it('keep firing while deliveries wait for their keys, between attempts with the longest pause', () => {
    const { expr } = rules.find(({ alert }) => alert === 'EndpointKeysUnavailable') as Rule;
    const minutes = Number(/\[(\d+)m\]/.exec(expr)?.[1]);
    expect(minutes * MINUTE).toBeGreaterThan(longestDelay([]));
  });

  it.each(EXPRESSIONS)('%s uses exported metrics only', (_, expression) => {
    const { selectors, groupedBy } = readExpression(expression);
    const known = selectors.filter(({ metric }) => !METRICS_OF_PROMETHEUS.includes(metric));
    const unknown = known.filter(({ metric }) => labelsOf(metric) === undefined);
    expect(unknown).toEqual([]);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, matchers } of known) {
      for (const { label, operator, value } of matchers) {
        expect({ metric, labels: labelsOf(metric) }).toEqual({
          metric,
          labels: expect.arrayContaining([label]),
        });
        const values = valuesOf(metric, label);
        if (values === undefined || value.startsWith('$')) continue;
        // Each alternative of a regular expression must be a value.
        const wanted = operator.includes('~') ? value.split('|') : [value];
        for (const each of wanted) {
          const pattern = new RegExp(`^(?:${operator.includes('~') ? each : escaped(each)})$`);
          expect({ metric, label, each, found: values.some((found) => pattern.test(found)) }).toMatchObject({
            found: true,
          });
        }
      }
    }
    const all = new Set(known.flatMap(({ metric }) => labelsOf(metric) ?? []));
    expect(groupedBy.filter((label) => !all.has(label))).toEqual([]);
  });

  it('apply rate() to counters only', () => {
    for (const [place, text] of EXPRESSIONS) {
      for (const [, metric = ''] of text.matchAll(/\b(?:rate|increase)\s*\(\s*(\w+)/g)) {
        const isCounter = types.get(metric) === 'counter' || metric.endsWith('_bucket');
        expect({ place, metric, isCounter }).toEqual({ place, metric, isCounter: true });
      }
    }
  });

  it('each alert has a description, an action and a severity, and uses remaining labels only', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr, labels, annotations } of rules) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect({ alert, summary: annotations.summary.length > 10 }).toEqual({ alert, summary: true });
      expect({ alert, description: annotations.description.length > 20 }).toEqual({
        alert,
        description: true,
      });
      expectShown(alert, expr, `${annotations.summary} ${annotations.description}`, /\$labels\.(\w+)/g);
    }
  });

  it('each alert has a panel that shows its metrics, with the labels that it selects', () => {
    const shown = targets.flatMap(({ text }) => readExpression(text).selectors);
    const missing = rules.flatMap(({ alert, expr }) =>
      readExpression(expr)
        .selectors.filter(
          (wanted) =>
            !shown.some(
              ({ metric, matchers }) =>
                metric === wanted.metric &&
                // The selection of processes is the reader's. Any other one of the panel must be that of the alert.
                matchers
                  .filter(({ label }) => label !== 'instance')
                  .every((own) => wanted.matchers.some((each) => isDeepStrictEqual(each, own))),
            ),
        )
        .map(({ metric }) => `${alert}: ${metric}`),
    );
    expect(missing).toEqual([]);
  });

  it('each alert links to its runbook', () => {
    const runbooks = readFileSync(join(import.meta.dirname, '../../../docs/runbooks.md'), 'utf8');
    const headings = [...runbooks.matchAll(/^## (\w+)$/gm)].map(([, heading]) => heading);
    expect(rules.map(({ alert }) => alert)).toEqual(headings);
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook_url).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
    }
  });

  it('the runbook says what to check for each work that can be overdue', () => {
    const runbooks = readFileSync(join(import.meta.dirname, '../../../docs/runbooks.md'), 'utf8');
    const [, section = ''] = /^## WorkOverdue\n(.*?)^## /ms.exec(runbooks) ?? [];
    const works = samples
      .filter(({ name }) => name === 'mcs_work_overdue_seconds')
      .map(({ labels }) => (labels['work'] ?? '').replace(/^(old_partitions_of_).*/, '$1…'));
    const described = [...section.matchAll(/^\| `(\w+…?)`/gm)].map(([, work]) => work);
    expect(described.toSorted()).toEqual(
      // It has an alert of its own.
      [...new Set(works)].filter((work) => work !== 'domain_records_missing').toSorted(),
    );
  });

  it('each legend uses remaining labels only', () => {
    for (const { place, text, legend } of targets) expectShown(place, text, legend, /\{\{(\w+)\}\}/g);
  });

  it('panels do not overlap and have unique IDs', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const overlapping = panels.flatMap((left, index) =>
      panels
        .slice(index + 1)
        .filter(({ gridPos: right }) => {
          const { x, y, w, h } = left.gridPos;
          return x < right.x + right.w && right.x < x + w && y < right.y + right.h && right.y < y + h;
        })
        .map(({ title }) => [left.title, title]),
    );
    expect(overlapping).toEqual([]);
  });

  it('the variables of the dashboard use exported metrics', () => {
    const queries = JSON.stringify(dashboard.templating.list);
    for (const [, metric = ''] of queries.matchAll(/label_values\((\w+),/g)) {
      expect(types.has(metric)).toBe(true);
    }
  });
});

/** An aggregation has the labels that it is grouped by, everything else those of its metric. */
function expectShown(place: string, expression: string, text: string, pattern: RegExp): void {
  const { selectors, groupedBy } = readExpression(expression);
  const isGrouped = /\b(?:sum|max|min|histogram_quantile)\b/.test(expression);
  const left = isGrouped
    ? groupedBy
    : selectors.flatMap(({ metric }) => labelsOf(metric) ?? LABELS_OF_PROMETHEUS);
  for (const [, label = ''] of text.matchAll(pattern)) {
    expect({ place, label, isLeft: left.includes(label) }).toEqual({ place, label, isLeft: true });
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
