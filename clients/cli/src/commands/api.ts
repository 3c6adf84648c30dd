import { Option, type Command } from 'commander';
import { search } from 'jmespath';
import { OPERATIONS, type MerchantConnectivity, type Operation } from '@merchant-connectivity/sdk';
import { EXIT, Failure, usage } from '../failures.js';
import { clientOf } from '../http.js';
import { printableJson } from '../printable.js';
import { action, type Session } from '../program.js';
import { readText } from '../text-files.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const STANDARD_INPUT = 0;

export function addApi(program: Command): void {
  program
    .command('api [method] [path]')
    .description(
      'send a request of any operation, such as: mcs api GET /merchants; without arguments, list them',
    )
    .option('--query <name=value...>', 'parameters; a name can be repeated')
    .option('--data <json>', 'the body; - for standard input')
    .option('--all', 'the entries of all pages')
    .option('--select <expression>', 'print this part of the response only (JMESPath), such as: data[].id')
    .addOption(new Option('--idempotency-key <key>', 'for operations that accept one'))
    .action(action(api));
}

interface ApiOptions {
  readonly query?: readonly string[];
  readonly data?: string;
  readonly all?: boolean;
  readonly select?: string;
  readonly idempotencyKey?: string;
}

async function api(session: Session, options: ApiOptions, method?: string, target?: string): Promise<void> {
  if (method === undefined) return list(session);
  if (target === undefined) throw usage('Give a method and a path, such as: mcs api GET /merchants');
  const { path, query } = targetOf(target, options.query ?? []);
  const [name, operation] = operationOf(method.toUpperCase(), path);
  const { all, select, idempotencyKey } = options;
  if (operation.isStream) throw usage('mcs listen shows this stream.');
  if (all && !operation.isPaged) throw usage(`${method.toUpperCase()} ${operation.path} has no pages.`);
  const data = bodyOf(options.data);
  const client = clientFor(session, operation);
  const send = (more: object = {}): Promise<unknown> => {
    const { repeatable, acceptsKey, surface, credentials } = operation;
    const body = operation.isForm ? { form: (data ?? {}) as object } : data !== undefined && { body: data };
    const request = { method: operation.method, path, surface, credentials, repeatable, acceptsKey };
    return client.request(name, { ...request, query: { ...query, ...more }, ...body }, { idempotencyKey });
  };
  const result = all ? await allPages(send) : await send();
  print(session, select === undefined ? result : selected(result, select));
}

function list({ output }: Session): void {
  output.table(Object.values(OPERATIONS), {
    method: ({ method }: Operation) => method,
    path: ({ path }: Operation) => path,
    summary: ({ summary }: Operation) => summary,
  });
}

/** Returns the path, and the parameters of its query and of the options. */
function targetOf(
  target: string,
  options: readonly string[],
): { readonly path: string; readonly query: Readonly<Record<string, string | string[]>> } {
  const [path = '', search = ''] = target.split(/\?(.*)/s);
  const given = options.map((option) => {
    const [name, value] = option.split(/=(.*)/s);
    if (!name || value === undefined) throw usage(`--query must be name=value, not ${option}.`);
    return [name, value] as const;
  });
  const query: Record<string, string[]> = {};
  for (const [name, value] of [...new URLSearchParams(search), ...given]) (query[name] ??= []).push(value);
  return { path: `/${path.replace(/^\/+/, '')}`, query };
}

function operationOf(method: string, path: string): [string, Operation] {
  const segments = path.split('/');
  const matches = ({ path: template }: Operation): boolean => {
    const parts = template.split('/');
    const isPart = (part: string, index: number): boolean =>
      part.startsWith('{') ? Boolean(segments[index]) : part === segments[index];
    return parts.length === segments.length && parts.every(isPart);
  };
  const found = Object.entries(OPERATIONS).filter(([, operation]) => matches(operation));
  // A fixed path comes before one with a placeholder.
  const [best] = found
    .filter(([, operation]) => operation.method === method)
    .toSorted(([, { path: left }], [, { path: right }]) => left.split('{').length - right.split('{').length);
  if (best) return best;
  if (!METHODS.includes(method)) throw usage(`${method} is not a method. Use one of ${METHODS.join(', ')}.`);
  const methods = found.map(([, operation]) => operation.method).join(', ');
  throw usage(
    methods === ''
      ? `No operation has the path ${path}. Run mcs api for a list.`
      : `${path} has no operation ${method}, but ${methods}.`,
  );
}

/** @throws Failure if the credentials are missing */
function clientFor(session: Session, { surface, credentials }: Operation): MerchantConnectivity {
  if (credentials === 'basic') return session.platform();
  if (credentials === 'bearer') return session.dashboard();
  const { baseUrl, dashboardUrl } = session.settings;
  const serviceToken = process.env['MCS_SERVICE_TOKEN'];
  if (credentials === 'service' && !serviceToken)
    throw new Failure(
      'This operation needs a service token.',
      EXIT.notLoggedIn,
      'Set MCS_SERVICE_TOKEN, and MCS_BASE_URL to the address of the internal API.',
    );
  return clientOf({ baseUrl: surface === 'dashboard' ? dashboardUrl : baseUrl, serviceToken });
}

function bodyOf(data: string | undefined): unknown {
  if (data === undefined) return undefined;
  try {
    return JSON.parse(data === '-' ? readText(STANDARD_INPUT) : data);
  } catch (error) {
    throw usage(`--data must be JSON: ${(error as Error).message}`);
  }
}

interface AnyPage {
  readonly data: readonly unknown[];
  readonly next_cursor: string | null;
  readonly has_more?: boolean;
}

async function allPages(send: (query?: object) => Promise<unknown>): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let query: object = {}; ;) {
    const { data, next_cursor: cursor, has_more: hasMore = true } = (await send(query)) as AnyPage;
    found.push(...data);
    if (cursor === null || !hasMore) return found;
    query = { cursor };
  }
}

function selected(result: unknown, expression: string): unknown {
  try {
    return search(result ?? null, expression);
  } catch (error) {
    throw usage(`--select: ${(error as Error).message}`);
  }
}

/** Prints a text as it is, so that a shell can read it, and anything else as JSON. */
function print({ output }: Session, result: unknown): void {
  const lines = typeof result === 'string' ? [result] : printableJson(result ?? null, 2).split('\n');
  output.result(result ?? null, ...lines);
}
