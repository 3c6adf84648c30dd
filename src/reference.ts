import { writeFileSync } from 'node:fs';
import { AUDIT_ACTION_NAMES, auditAction } from './infrastructure/audit-catalog/index.js';
import { describeScope, listPermissions, SCOPES } from './infrastructure/auth/index.js';
import { configurationDefinitions, variablesOf } from './infrastructure/config/index.js';
import { errorCatalog, type ErrorCode, type ErrorKind } from './infrastructure/errors/index.js';
import { metricCatalog } from './infrastructure/metrics/index.js';
import { documentedOperations } from './infrastructure/openapi/index.js';
import { EVENT_NAMES, EVENTS } from './infrastructure/event-catalog/index.js';
import './application.js';
import { MINUTE } from './infrastructure/time/index.js';
import { meaningOf } from './modules/audit-logs/index.js';
import { eventSchema, examplePayload } from './modules/webhooks/index.js';

/** Returns the generated pages of `docs/`. A test fails if a committed page is stale. */
export function referencePages(): Readonly<Record<string, string>> {
  return {
    'docs/audit-actions.md': auditActionsPage(),
    'docs/dashboard-permissions.md': dashboardPermissionsPage(),
    'docs/configuration.md': configurationPage(),
    'docs/errors.md': errorsPage(),
    'docs/metrics.md': metricsPage(),
    'docs/repeated-requests.md': repeatedRequestsPage(),
    'docs/scopes.md': scopesPage(),
    'docs/webhook-events.md': webhookEventsPage(),
  };
}

function auditActionsPage(): string {
  const rows = AUDIT_ACTION_NAMES.map(
    (action) => `| \`${action}\` | \`${auditAction(action).target.type}\` | ${meaningOf(action)} |`,
  );
  return page(
    'Audit actions',
    'These are the actions that the audit log records. Each entry has the outcome `success`, `failure` (the attempt ' +
      'did not succeed) or `denied` (the user may not perform the action). It names who acted: operators of the platform can ' +
      'perform some actions of users, too.',
    [table(['action', 'target', 'meaning'], rows)],
  );
}

function dashboardPermissionsPage(): string {
  const rows = listPermissions()
    .toSorted((left, right) => left.name.localeCompare(right.name))
    .map(
      ({ name, role = 'viewer', recentLogin, token, action }) =>
        `| ${inWords(name)} | ${role} | ${recentLogin === undefined ? '' : `${recentLogin / MINUTE} minutes`} | ` +
        `${token === undefined ? '' : token === 'any' ? 'any' : `\`${token}\``} | ${action ? `\`${action}\`` : ''} |`,
    );
  return page(
    'Permissions in the dashboard',
    'This is what users of the dashboard can do, with the lowest role that may do it. Some operations require a login ' +
      'within the last 5 or 60 minutes. Operations with a scope are also part of the dashboard API, for programs with an ' +
      'API key or access token. If an operation has an audit action, the audit log also records attempts that are denied.',
    [table(['operation', 'role', 'recent login', 'scope', 'audit action'], rows)],
  );
}

function scopesPage(): string {
  const operations = documentedOperations();
  const rows = SCOPES.map((scope) => {
    const requiring = operations.filter(({ operation }) => operation.scope === scope);
    const surfaces = [...new Set(requiring.map(({ surface }) => surface))];
    const paths = requiring.map(({ method, path }) => `\`${method} ${path}\``);
    return `| \`${scope}\` | ${describeScope(scope)} | ${surfaces.join(', ')} | ${paths.join(', ')} |`;
  });
  return page(
    'Scopes',
    'Every operation for programs requires one scope. An [API key](api-keys.md) has the scopes that were chosen for it, an ' +
      'access token those of its API key, or those that a user approved. The secret of an API client has all scopes of the ' +
      'platform API. `GET /me` accepts any API key and access token. The column API says whether the operations are part of the ' +
      'platform API or the dashboard API: [api-keys.md](api-keys.md#send-a-key) says how to send a key to each.',
    [table(['scope', 'what it allows', 'API', 'operations'], rows)],
  );
}

/** `viewApiSecret` -> `view API secret` */
function inWords(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.replaceAll(/\b(?:api|sso)\b/g, (word) => word.toUpperCase());
}

/** “Service” has what every deployment sets. */
const placeOf = ({ title }: { readonly title: string }): string => (title === 'Service' ? '' : title);

function configurationPage(): string {
  // Not in the order in which modules are loaded, which differs in the bundle of the tests.
  const definitions = configurationDefinitions().toSorted((left, right) =>
    placeOf(left).localeCompare(placeOf(right)),
  );
  const sections = definitions.map(({ title, target }) => {
    const defaults = new target() as Record<string, unknown>;
    const rows = variablesOf(target).map(
      ({ name, property, description, secret }) =>
        `| \`${name}\` | ${formatDefault(defaults[property])} | ${description}${secret ? ' Secret.' : ''} |`,
    );
    return `## ${title}\n\n${table(['variable', 'default', 'meaning'], rows)}`;
  });
  return page(
    'Configuration',
    'The service reads its settings from environment variables when a process starts, and reports all problems at ' +
      'once. Set a switch to `on` or `off`. To read a variable `X` from a file, set `X_FILE` to the path of the file. Use ' +
      'this for secrets.',
    sections,
  );
}

function errorsPage(): string {
  const byCode = new Map<ErrorCode, ErrorKind[]>();
  for (const kind of errorCatalog()) byCode.set(kind.code, [...(byCode.get(kind.code) ?? []), kind]);
  const codes = [...byCode].toSorted(([left], [right]) => left.localeCompare(right));
  const rows = codes.map(
    ([code, kinds]) => `| [\`${code}\`](#${code.toLowerCase()}) | ${statusesOf(kinds).join(', ')} |`,
  );
  return page(
    'Errors',
    'Every error is a JSON object with `error_type`, `error_code` and `error_message`. A 429 also has `retry_after` ' +
      'in seconds. Use `error_code` in your program; the message is for developers and may change. The `Link` header ' +
      'of an error (`rel="help"`) points to its section on this page. [retrying.md](retrying.md) says which requests ' +
      'you can repeat, and [api-keys.md](api-keys.md#find-out-why-a-key-is-refused) how to find out why credentials are refused.',
    [table(['error_code', 'status'], rows), ...codes.map(([code, kinds]) => errorSection(code, kinds))],
  );
}

function statusesOf(kinds: readonly ErrorKind[]): number[] {
  return [...new Set(kinds.map(({ status }) => status))].toSorted((left, right) => left - right);
}

/** The heading is the target of the `Link` header of errors. */
function errorSection(code: ErrorCode, kinds: readonly ErrorKind[]): string {
  const rows = kinds
    .toSorted((left, right) => left.status - right.status || left.when.localeCompare(right.when))
    .map(({ status, type, when, message }) => `| ${status} | \`${type}\` | ${when} | ${message} |`);
  return `## ${code}\n\n${table(['status', 'error_type', 'when', 'example of the message'], rows)}`;
}

function metricsPage(): string {
  const rows = metricCatalog()
    .toSorted((left, right) => left.name.localeCompare(right.name))
    .map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${asCode(labels)} | ${help} |`);
  return page(
    'Metrics',
    'If `METRICS_PORT` is set, a process serves these metrics for Prometheus at `/metrics`, and the default metrics of ' +
      '`prom-client` for Node.js (`process_*`, `nodejs_*`). For the setup, alerts and a dashboard, see ' +
      '[operations-monitoring.md](operations-monitoring.md#metrics).',
    [table(['metric', 'type', 'labels', 'meaning'], rows)],
  );
}

const SAFETY = { always: 'yes', with_idempotency_key: 'with an idempotency key', never: 'no' };

function repeatedRequestsPage(): string {
  const rows = documentedOperations().flatMap(({ method, path, operation }) => {
    const { ifRepeated, repeatable = 'always' } = operation;
    return ifRepeated === undefined
      ? []
      : [`| \`${method} ${path}\` | ${ifRepeated} | ${SAFETY[repeatable]} |`];
  });
  return page(
    'Repeated requests',
    'This page says for each operation what a repeated request does, and whether a program may repeat a request without ' +
      'knowing whether the first one was processed. `GET` requests change nothing. A `PATCH` with the same values changes ' +
      'nothing. After a `DELETE`, 404 means that it is already deleted. [retrying.md](retrying.md) explains when to repeat a ' +
      'request, and [idempotency keys](retrying.md#idempotency-keys).',
    [table(['operation', 'if you repeat it', 'safe?'], rows)],
  );
}

function webhookEventsPage(): string {
  const rows = EVENT_NAMES.map((name) => {
    const fields = Object.keys(eventSchema(name).properties ?? {}).filter((field) => field !== 'event');
    return `| [\`${name}\`](#${name.toLowerCase()}) | ${EVENTS[name].description} | ${asCode(fields)} |`;
  });
  const sections = EVENT_NAMES.map((name) => {
    const payload = JSON.stringify(examplePayload(name), null, 2);
    return [`## ${name}`, '', EVENTS[name].description, '', '```json', payload, '```'].join('\n');
  });
  return page(
    'Webhook events',
    'Every event is sent as a JSON object. The line breaks in the examples are for readability; the service does not ' +
      'send them. `data.metadata` is present only if metadata was attached to the session or the sign-in link. New fields and events may be ' +
      'added, so ignore those that you do not know. [webhooks.md](webhooks.md) explains delivery and verification.',
    [table(['event', 'when', 'fields'], rows), ...sections],
  );
}

const asCode = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

function page(title: string, introduction: string, sections: readonly string[]): string {
  const origin =
    '<!-- Generated from the code by `npm run docs`. Do not edit this page; change the code. -->';
  return `${[`# ${title}`, origin, introduction, ...sections].join('\n\n')}\n`;
}

function table(headings: readonly string[], rows: readonly string[]): string {
  const lines = [headings.join(' | '), headings.map(() => '---').join(' | ')].map((cells) => `| ${cells} |`);
  return [...lines, ...rows].join('\n');
}

function formatDefault(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? '`on`' : '`off`';
  return `\`${Array.isArray(value) ? value.join(',') : String(value)}\``;
}

const [, program] = process.argv;
if (program === import.meta.filename) {
  for (const [file, text] of Object.entries(referencePages())) writeFileSync(file, text);
}
