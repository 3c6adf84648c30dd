import type { OperationAtPath } from '../../../infrastructure/openapi/index.js';
import type { SingleRequestLogEntryResponse } from '../request-logs.dto.js';

type RequestEntry = Pick<SingleRequestLogEntryResponse, 'method' | 'path' | 'secret_version'>;
type Operation = Pick<OperationAtPath, 'schemes' | 'isForm'> & {
  readonly operation: { readonly body?: unknown };
};

/** The operation of a path that is none: most clients wanted one of the platform API. */
const UNKNOWN: Operation = { operation: { body: 'any' }, schemes: ['basic'], isForm: false };

/**
 * Returns a curl command that repeats an API request, with the credentials and the kind of body of its operation. The log keeps neither
 * credentials nor the body.
 */
export function curlOfRequest(
  { method, path, secret_version: secretVersion }: RequestEntry,
  baseUrl: string,
  { schemes, isForm, operation }: Operation = UNKNOWN,
): string {
  const hasBody = operation.body !== undefined && !['GET', 'HEAD', 'DELETE'].includes(method);
  return command([
    ...(method === 'GET' || (method === 'POST' && hasBody) ? [] : [`-X ${quoted(method)}`]),
    quoted(`${baseUrl}${path}`),
    ...(schemes.includes('basic')
      ? [`-u "$client_id:$${secretVersion === null ? 'key' : 'secret'}"`]
      : schemes.includes('bearer')
        ? ['-H "Authorization: Bearer $key"']
        : []),
    ...(hasBody ? (isForm ? ['-d @body.txt'] : [JSON_TYPE, '-d @body.json']) : []),
  ]);
}

/** The connector of an API client, or the one for all clients. Operations about tokens and connections are below it. */
const CONNECTOR = /^\/mcp(?:\/[\da-f-]{36})?$/i;

export function isToolCall({ path }: Pick<SingleRequestLogEntryResponse, 'path'>): boolean {
  return CONNECTOR.test(path ?? '');
}

/** Returns a curl command that calls the same tool. The log keeps neither the token nor the arguments. */
export function curlOfToolCall(
  { path, tool }: Pick<SingleRequestLogEntryResponse, 'path' | 'tool'>,
  baseUrl: string,
): string {
  const params = { name: tool, arguments: {} };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return command([
    quoted(`${baseUrl}${path}`),
    '-H "Authorization: Bearer $token"',
    JSON_TYPE,
    // Required by the protocol.
    `-H 'Accept: application/json, text/event-stream'`,
    tool === null ? '-d @body.json' : `-d ${quoted(message)}`,
  ]);
}

/**
 * Returns a curl command that sends an event to its endpoint. The signature is a placeholder, because it requires the secret.
 *
 * @param body undefined if the event is no longer stored
 */
export function curlOfDelivery(
  { url, event_id }: Pick<SingleRequestLogEntryResponse, 'url' | 'event_id'>,
  body: string | undefined,
): string {
  return command([
    quoted(url ?? ''),
    JSON_TYPE,
    `-H ${quoted(`webhook-id: ${event_id}`)}`,
    '-H "webhook-timestamp: $(date +%s)"',
    '-H "webhook-signature: $signature"',
    body === undefined ? '--data-binary @body.json' : `--data-binary ${quoted(body)}`,
  ]);
}

const JSON_TYPE = `-H 'Content-Type: application/json'`;

function command(parts: readonly string[]): string {
  // URLs can contain brackets and braces, which curl expands without `-g`.
  return ['curl -sSg', ...parts].join(' \\\n  ');
}

/** Quotes a value for a POSIX shell, which expands nothing between single quotes. */
function quoted(value: string): string {
  return `'${value.replaceAll(`'`, `'\\''`)}'`;
}
