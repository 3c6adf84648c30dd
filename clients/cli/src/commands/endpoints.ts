import type { Command } from 'commander';
import type { MerchantConnectivity } from '@merchant-connectivity/sdk';
import { usage } from '../failures.js';
import { fieldsOf, styled, styledStatus } from '../output.js';
import { action, integerOption, timeOption, type Session } from '../program.js';
import { textIn } from '../text-files.js';

type Endpoint = Awaited<ReturnType<MerchantConnectivity['createWebhookEndpoint']>>;
type Changes = NonNullable<Parameters<MerchantConnectivity['updateWebhookEndpoint']>[1]>;
type Event = NonNullable<Endpoint['events']>[number];
type TestRequest = Parameters<MerchantConnectivity['testWebhookEndpoint']>[1];

export function addEndpoints(program: Command): void {
  const endpoints = program.command('endpoints').description('webhook endpoints');
  endpoints
    .command('list')
    .description('list endpoints')
    .option('--environment <name>', 'development or production; default: that of the login')
    .action(action(list));
  endpoints
    .command('create')
    .description('create an endpoint')
    .requiredOption('--url <url>', 'public https address')
    .option('--description <text>', 'your own note')
    .option('--events <names>', 'only these events, separated by commas')
    .option('--signing <kind>', 'client (default), hmac or ed25519: the last two make a key of the endpoint')
    .option('--headers <file>', 'file with headers of your own, one per line, such as "X-Api-Key: value"')
    .option('--environment <name>', 'development or production; default: that of the login')
    .action(action(create));
  endpoints
    .command('update <id>')
    .description('change an endpoint')
    .option('--url <url>', 'public https address')
    .option('--description <text>', 'your own note; empty to remove it')
    .option('--events <names>', 'only these events, separated by commas; empty for all')
    .option('--status <status>', 'enabled or paused')
    .option(
      '--headers <file>',
      'file with headers to add or replace, one per line; a name without a value removes the header',
    )
    .action(action(update));
  endpoints
    .command('rotate-key <id>')
    .description('make a new signing key; the previous one also signs until the overlap ends')
    .option('--signing <kind>', 'client, hmac or ed25519; default: the same kind as now')
    .option('--overlap <hours>', '0 to 168; default: 24')
    .action(action(rotateKey));
  endpoints.command('get <id>').description('show an endpoint').action(action(get));
  endpoints.command('delete <id>').description('delete an endpoint').action(action(remove));
  endpoints
    .command('test <id>')
    .description('send an example event to an endpoint and show its response')
    .option('--event <name>', 'the event', 'MERCHANT_STATUS_UPDATE')
    .action(action(test));
  endpoints
    .command('redeliver <id>')
    .description('send an event to an endpoint again')
    .requiredOption('--event-id <id>', 'id of the event')
    .action(action(redeliver));
  endpoints
    .command('recover <id>')
    .description('resend all events whose delivery failed; without --since, show the progress')
    .option('--since <time>', 'events since this time, such as 2026-01-31T08:00:00Z, or 2h for two hours ago')
    .action(action(recover));
}

interface EndpointOptions {
  readonly environment?: string;
  readonly url?: string;
  readonly description?: string;
  readonly events?: string;
  readonly status?: string;
  readonly signing?: string;
  readonly headers?: string;
}

async function list(session: Session, { environment }: EndpointOptions): Promise<void> {
  const { data } = await session
    .dashboard()
    .listWebhookEndpoints({ environment: session.environment(environment) });
  session.output.table(data, {
    id: ({ id }: Endpoint) => id,
    url: ({ url }: Endpoint) => url,
    environment: (endpoint: Endpoint) => endpoint.environment,
    status: ({ status }: Endpoint) => status,
    signing: ({ signing }: Endpoint) => signing,
    events: ({ events }: Endpoint) => events ?? 'all',
    failures: ({ health }: Endpoint) => health.consecutive_failures,
    description: ({ description }: Endpoint) => description,
  });
}

async function get(session: Session, _options: object, id = ''): Promise<void> {
  const endpoint = await session.dashboard().getWebhookEndpoint(id);
  session.output.result(endpoint, ...fieldsOf(endpoint));
}

async function create(
  session: Session,
  { url = '', description, environment, events, signing, headers }: EndpointOptions,
): Promise<void> {
  const endpoint = await session.dashboard().createWebhookEndpoint({
    environment: session.environment(environment),
    url,
    ...(description !== undefined && { description }),
    ...(events !== undefined && { events: eventsOf(events) }),
    ...(signing !== undefined && { signing: signing as Endpoint['signing'] }),
    ...(headers !== undefined && { headers: headersIn(headers) as Record<string, string> }),
  });
  show(session, 'Created', endpoint);
}

async function update(session: Session, options: EndpointOptions, id = ''): Promise<void> {
  const { url, description, events, status, headers } = options;
  const changes = {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description: description === '' ? null : description }),
    ...(events !== undefined && { events: events === '' ? null : eventsOf(events) }),
    ...(status !== undefined && { status: status as Changes['status'] }),
    ...(headers !== undefined && { headers: headersIn(headers) }),
  };
  if (Object.keys(changes).length === 0) throw usage('Give at least one option that changes the endpoint.');
  show(session, 'Updated', await session.dashboard().updateWebhookEndpoint(id, changes as Changes));
}

async function rotateKey(
  session: Session,
  { signing, overlap }: { readonly signing?: string; readonly overlap?: string },
  id = '',
): Promise<void> {
  const hours = integerOption('--overlap', overlap);
  const endpoint = await session.dashboard().rotateWebhookEndpointKey(id, {
    ...(signing !== undefined && { signing: signing as Endpoint['signing'] }),
    ...(hours !== undefined && { overlap_hours: hours }),
  });
  show(session, 'Made a new key for', endpoint);
}

/** Headers are in a file, because every user of the machine can read the arguments of a program. */
function headersIn(file: string): Record<string, string | null> {
  const lines = textIn(file)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  const pairs = lines.map((line) => /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line));
  if (pairs.includes(null)) throw usage(`${file} must have lines such as "X-Api-Key: value".`);
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] || null]));
}

function eventsOf(names: string): Event[] {
  return names.split(',').map((name) => name.trim() as Event);
}

async function remove(session: Session, _options: object, id = ''): Promise<void> {
  show(session, 'Deleted', await session.dashboard().deleteWebhookEndpoint(id));
}

async function test(session: Session, { event }: { readonly event: string }, id = ''): Promise<void> {
  const result = await session.dashboard().testWebhookEndpoint(id, { event } as TestRequest);
  const { output } = session;
  const { received, status_code: status, latency_ms: latency } = result;
  const verdict = received ? styled('green', 'received') : styled('red', 'not received');
  output.result(result, [event, verdict, styledStatus(status), `${latency} ms`]);
  if (!received) process.exitCode = 1;
}

async function redeliver(
  session: Session,
  { eventId }: { readonly eventId: string },
  id = '',
): Promise<void> {
  const result = await session.dashboard().redeliverWebhook(id, { event_id: eventId });
  session.output.result(result, `Queued ${result.queued} deliveries.`);
}

async function recover(session: Session, options: { readonly since?: string }, id = ''): Promise<void> {
  const since = timeOption('--since', options.since);
  const dashboard = session.dashboard();
  const recovery = await (since === undefined
    ? dashboard.getWebhookRecovery(id)
    : dashboard.recoverWebhooks(id, { since }));
  session.output.result(recovery, ...fieldsOf(recovery));
}

function show({ output }: Session, what: string, endpoint: Endpoint): void {
  const { signing_key: secret, public_key: publicKey } = endpoint;
  output.result(
    endpoint,
    [`${what} ${endpoint.id}`, endpoint.url],
    // The only response that has the key.
    ...(secret === undefined ? [] : [['signing key', secret]]),
    ...(publicKey ? [['public key', publicKey]] : []),
  );
}
