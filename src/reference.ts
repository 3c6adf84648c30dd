import { writeFileSync } from 'node:fs';
import './application.js';
import { configurationDefinitions, variablesOf } from './infrastructure/config/index.js';
import { errorCatalogue } from './infrastructure/errors/index.js';
import { metricCatalogue } from './infrastructure/metrics/index.js';
import { AUDIT_ACTIONS } from './modules/audit-logs/index.js';
import { EVENT_NAMES, EVENTS, eventSchema, examplePayload } from './modules/webhooks/index.js';

/** The pages of `docs/` that are written from the code; a test fails when they are stale. */
export function referencePages(): Readonly<Record<string, string>> {
  return {
    'docs/audit-actions.md': auditActionsPage(),
    'docs/configuration.md': configurationPage(),
    'docs/errors.md': errorsPage(),
    'docs/metrics.md': metricsPage(),
    'docs/webhook-events.md': webhookEventsPage(),
  };
}

function auditActionsPage(): string {
  const rows = Object.entries(AUDIT_ACTIONS).map(
    ([action, { target, meaning }]) => `| \`${action}\` | \`${target}\` | ${meaning} |`,
  );
  return page(
    'Audit actions',
    'What the audit log tells of, each with the outcome `success`, `failure` (tried, and did not succeed) or ' +
      '`denied` (the user may not do it).',
    [['| action | target | meaning |', '| --- | --- | --- |', ...rows].join('\n')],
  );
}

function configurationPage(): string {
  const sections = configurationDefinitions().map(({ title, target }) => {
    const defaults = new target() as Record<string, unknown>;
    const rows = variablesOf(target).map(
      ({ name, property, description, secret }) =>
        `| \`${name}\` | ${inWords(defaults[property])} | ${description}${secret ? ' Secret.' : ''} |`,
    );
    return [`## ${title}`, '', '| variable | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
  });
  return page(
    'Configuration',
    'Everything is read from the environment when a process starts; all problems are reported at once. ' +
      'A variable `X` can be given as `X_FILE`, the path of a file that holds its value: use that for secrets.',
    sections,
  );
}

function errorsPage(): string {
  const rows = [...errorCatalogue()]
    .toSorted((left, right) => left.status - right.status || left.code.localeCompare(right.code))
    .map(({ status, type, code, when }) => `| ${status} | \`${type}\` | \`${code}\` | ${when} |`);
  return page(
    'Errors',
    'Every error is a JSON object with `error_type`, `error_code` and `error_message`, and `retry_after` in ' +
      'seconds on 429. Branch on `error_code`; the message is for people and may change.',
    [['| status | error_type | error_code | when |', '| --- | --- | --- | --- |', ...rows].join('\n')],
  );
}

function metricsPage(): string {
  const rows = metricCatalogue()
    .toSorted((left, right) => left.name.localeCompare(right.name))
    .map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${inCode(labels)} | ${help} |`);
  return page(
    'Metrics',
    'What Prometheus gets at `/metrics` where `METRICS_PORT` is set, beside what `prom-client` tells of every Node.js ' +
      'process (`process_*`, `nodejs_*`). How to have it read, and what to make of it: [operations.md](operations.md#metrics).',
    [['| metric | type | labels | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')],
  );
}

function webhookEventsPage(): string {
  const rows = EVENT_NAMES.map((name) => {
    const fields = Object.keys(eventSchema(name).properties ?? {}).filter((field) => field !== 'event');
    return `| [\`${name}\`](#${name.toLowerCase()}) | ${EVENTS[name].description} | ${inCode(fields)} |`;
  });
  const sections = EVENT_NAMES.map((name) => {
    const payload = JSON.stringify(examplePayload(name), null, 2);
    return [`## ${name}`, '', EVENTS[name].description, '', '```json', payload, '```'].join('\n');
  });
  return page(
    'Webhook events',
    'Every event is sent as a JSON object; the examples have line breaks for people, which the service does not send. ' +
      '`data.metadata` is there only where metadata was attached to the session. Fields and events may be added: ' +
      'ignore what you do not know. How they are delivered and verified: [webhooks.md](webhooks.md).',
    [['| event | when | fields |', '| --- | --- | --- |', ...rows].join('\n'), ...sections],
  );
}

const inCode = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

function page(title: string, introduction: string, sections: readonly string[]): string {
  const origin = '<!-- Written by `npm run docs` from the code. Change it there. -->';
  return `${[`# ${title}`, origin, introduction, ...sections].join('\n\n')}\n`;
}

function inWords(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? '`on`' : '`off`';
  return `\`${Array.isArray(value) ? value.join(',') : String(value)}\``;
}

const [, program] = process.argv;
if (program === import.meta.filename) {
  for (const [file, text] of Object.entries(referencePages())) writeFileSync(file, text);
}
