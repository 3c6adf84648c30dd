import { permissionOf } from '../../../infrastructure/auth/index.js';
import type { ComponentChildren, VNode } from 'preact';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { documentedOperationAt } from '../../../infrastructure/openapi/index.js';
import {
  ActionButton,
  Allowed,
  ButtonLink,
  CodeBlock,
  Copyable,
  CopyButton,
  dashboardPath,
  Details,
  Foreign,
  inMilliseconds,
  isolated,
  Moment,
  pathWith,
  RelativeTime,
  SegmentedBar,
  Tabs,
  usePage,
  UserLink,
  type Page,
  type ShownValues,
} from '../../../infrastructure/pages/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import type { SingleRequestLogEntryResponse } from '../request-logs.dto.js';
import { isToolCall } from './curl-command.js';
import { deliveryFailure } from './delivery-failures.js';
import { EntryStatus, hostOf, nameOf } from './request-logs.pages.js';
import { REQUEST_LOG_PERMISSIONS } from '../request-logs.capability.js';

interface EntryPageProps {
  readonly environment: PlatformEnvironment;
  readonly entry: SingleRequestLogEntryResponse;
  /** Undefined for an API request, and if the event is no longer stored. */
  readonly eventBody: string | undefined;
  /** Where the endpoint receives events now. Undefined for an API request, and if the endpoint was deleted. */
  readonly endpointUrl: string | undefined;
  readonly curl: string;
}

export function entryPage(props: EntryPageProps): Page {
  const { environment, entry } = props;
  return {
    title: nameOf(entry),
    parent: { title: 'Request logs', path: dashboardPath(environment, 'request-logs') },
    actions: (
      <>
        {entry.type === 'webhook' ? <SendAgain entry={entry} endpointUrl={props.endpointUrl} /> : null}
        <CopyButton label="Copy as curl" of={CURL} />
        <ReferenceLink entry={entry} />
      </>
    ),
    content: (
      <>
        <p>
          <EntryStatus entry={entry} /> {explanationOf(entry)}
        </p>
        <AfterFailure entry={entry} />
        {entry.type === 'webhook' ? (
          <Tabs
            tabs={[
              { title: 'Details', content: <Fields entry={entry} /> },
              // The details say why there was no response.
              ...(entry.status_code === 0 ? [] : [{ title: 'Response', content: responseContent(entry) }]),
              { title: 'Event', content: eventContent(props) },
              { title: 'Timing', content: timingOf(entry) },
            ]}
            selected={entry.response_body === null ? undefined : 'Response'}
          />
        ) : (
          <>
            <FailureError entry={entry} />
            <h2>Details</h2>
            <Fields entry={entry} />
            {requestContent(props)}
          </>
        )}
      </>
    ),
  };
}

/** The ID of the block with the curl command. */
const CURL = 'curl';

type EntryProps = Pick<EntryPageProps, 'entry'>;

/** Where events are sent now, as a page shows it, for `requireUnchanged`. */
export function addressOf(url = ''): ShownValues {
  return { URL: url };
}

/** The endpoint may have another URL now than in the entry. */
function SendAgain({
  entry: { endpoint_id, event_id, url },
  endpointUrl,
}: Pick<EntryPageProps, 'entry' | 'endpointUrl'>): VNode | null {
  const { environment } = usePage();
  if (endpoint_id === null || event_id === null || endpointUrl === undefined) return null;
  const host = hostOf(endpointUrl);
  return (
    <Allowed permission={REQUEST_LOG_PERMISSIONS.redeliverWebhook}>
      <ActionButton
        action={dashboardPath(environment, 'events', event_id)}
        fields={{ endpoint_id }}
        version={addressOf(endpointUrl)}
      >
        {host === hostOf(url) ? 'Send again' : `Send again to ${host}`}
      </ActionButton>
    </Allowed>
  );
}

function ReferenceLink({ entry: { method, path } }: EntryProps): VNode | null {
  const found = path === null ? undefined : documentedOperationAt(method, path);
  return found ? (
    <ButtonLink to={`/docs/api/operations/${found.operation.operationId}`} kind="second">
      Open in the API reference
    </ButtonLink>
  ) : null;
}

/** Links to what comes after a failed delivery attempt: its retry, and the other events that the endpoint missed. */
function AfterFailure({ entry }: EntryProps): VNode | null {
  const { environment } = usePage();
  const { type, reason, event_id: event, endpoint_id: endpoint } = entry;
  if (type !== 'webhook' || reason === null || event === null || endpoint === null) return null;
  return (
    <p>
      <a href={dashboardPath(environment, 'events', event)}>
        See all attempts and the next retry, if there is one
      </a>
      <Allowed permission={permissionOf('recoverWebhooks')}>
        {' · '}
        <a href={dashboardPath(environment, 'webhook-endpoints', endpoint, 'recover')}>
          Recover all events that the endpoint missed
        </a>
      </Allowed>
    </p>
  );
}

/**
 * The error that the client got, if the request failed. Only this page says why credentials were refused. An error contains no secret, so
 * it is kept as long as its entry.
 */
function FailureError({ entry }: EntryProps): VNode | null {
  const { error_code: code, error_message: message } = entry;
  const { fields } = REFUSED_FIELDS.exec(message ?? '')?.groups ?? {};
  if (code === null || message === null) return null;
  return (
    <>
      <CodeBlock
        title="Why the request failed"
        code={JSON.stringify({ error_code: code, error_message: message }, null, 2)}
      />
      <p>
        {code === 'INVALID_FIELD' && fields ? (
          <>
            {'Refused field: '}
            <code>{fields.replaceAll(' ', '_')}</code>
            {' · '}
          </>
        ) : null}
        <a href={`/docs/errors#${code.toLowerCase()}`}>What the code means</a>
      </p>
    </>
  );
}

/** The field that a message is about, in words: see `displayNameOf`. */
const REFUSED_FIELDS = /^The (?:selected )?(?<fields>[a-z][\w .]*?)(?: field\b| is invalid)/;

/** Half of the longest period of the list, so that links find entries before and after this one. */
const LINKED_PERIOD = 3 * DAY;

function Fields({ entry }: EntryProps): VNode {
  const { environment } = usePage();
  const { delivery, external_user_id: user } = entry;
  const time = entry.datetime.getTime();
  const list = (filters: Readonly<Record<string, string>>): string =>
    pathWith(dashboardPath(environment, 'request-logs'), filters, {
      start: new Date(time - LINKED_PERIOD).toISOString(),
      end: new Date(time + LINKED_PERIOD).toISOString(),
    });
  /** A value with a link to the entries that have it, and to its own page if there is one. */
  const linked = (
    filter: string,
    value: string | number | null,
    label: string,
    page?: string,
  ): ComponentChildren =>
    value === null ? null : (
      <>
        {page ? <a href={dashboardPath(environment, page, String(value))}>{value}</a> : value}
        {' · '}
        <a href={list({ [filter]: String(value) })}>{label}</a>
      </>
    );
  return (
    <Details
      entries={[
        [
          'Time',
          <>
            <Moment time={entry.datetime} isExact /> (<RelativeTime time={entry.datetime} />)
          </>,
        ],
        ['Type', delivery ? 'Webhook delivery attempt' : 'API request'],
        ['Method', entry.method],
        ['Path', entry.path],
        ['Tool', entry.tool],
        ['Agent', entry.agent],
        ['Sent with', credentialsOf(entry, environment, list)],
        ['Sent from', entry.ip_address],
        ['User agent', entry.user_agent],
        ['URL', entry.url],
        ['Status code', entry.status_code === 0 ? `None. ${noResponse(entry)}` : entry.status_code],
        [
          'Error code',
          entry.error_code && errorCode(entry.error_code, list({ error_code: entry.error_code })),
        ],
        [
          'Request ID',
          entry.request_id && (
            <>
              <Copyable title="Request ID" text={entry.request_id} />
              {' · '}
              <a href={list({ request_id: entry.request_id })}>All entries with this request ID</a>
            </>
          ),
        ],
        ['Latency', inMilliseconds(entry.latency_ms)],
        ['Attempt', delivery?.attempt],
        ['Reason code', entry.reason === null ? null : <code>{entry.reason}</code>],
        ['Event', entry.event],
        ['Event ID', linked('event_id', entry.event_id, 'All attempts', 'events')],
        ['Endpoint', linked('endpoint_id', entry.endpoint_id, 'All deliveries', 'webhook-endpoints')],
        ['Customer', user === null ? null : <UserLink user={user} isWhole />],
        ['Session ID', linked('session_id', entry.session_id, 'All entries of this session')],
        ['Task ID', linked('task_id', entry.task_id, 'All entries of this task')],
        ['Entry ID', entry.id],
      ]}
    />
  );
}

/**
 * Names the credentials of an API request; null if the entry does not say.
 *
 * @param list returns the path of the list with a filter
 */
function credentialsOf(
  entry: SingleRequestLogEntryResponse,
  environment: PlatformEnvironment,
  list: (filters: Readonly<Record<string, string>>) => string,
): VNode | null {
  const { api_key: key, secret_version: version } = entry;
  const page = dashboardPath(environment, 'api-credentials');
  if (key !== null)
    return (
      <>
        <Allowed permission={permissionOf('listApiKeys')} otherwise="API key">
          <a href={`${page}/keys`}>API key</a>
        </Allowed>{' '}
        <Foreign text={isolated(key)} />
        {' · '}
        <a href={list({ api_key: key })}>All entries of this key</a>
      </>
    );
  if (version !== null)
    return (
      <>
        <Allowed permission={permissionOf('listApiClients')} otherwise="Secret">
          <a href={page}>Secret</a>
        </Allowed>
        , version {version}
      </>
    );
  if (isToolCall(entry)) return <>MCP token</>;
  return entry.status_code === 401 ? <>No accepted credentials</> : null;
}

/** An error code with a link to its explanation. @param others the list of the entries with this code */
function errorCode(code: string, others: string): VNode {
  return (
    <>
      <a href={`/docs/errors#${code.toLowerCase()}`}>
        <code>{code}</code>
      </a>
      {' · '}
      <a href={others}>All entries with this code</a>
    </>
  );
}

function timingOf({ delivery, latency_ms, reason }: SingleRequestLogEntryResponse): VNode {
  const phases = [
    { label: 'Resolving the host name', value: delivery?.dns_ms ?? null },
    { label: 'Connecting', value: delivery?.connect_ms ?? null },
    { label: 'TLS handshake', value: delivery?.tls_ms ?? null },
    { label: 'Waiting for the response', value: delivery?.first_byte_ms ?? null },
  ].filter((phase): phase is { label: string; value: number } => phase.value !== null);
  if (phases.length === 0)
    return (
      <p>
        {reason === 'INTERRUPTED'
          ? 'The service was interrupted, so the times are not known.'
          : 'The attempt failed before it opened a connection.'}
      </p>
    );
  const rest = latency_ms - phases.reduce((total, { value }) => total + value, 0);
  return (
    <SegmentedBar
      title={`Timing: ${inMilliseconds(latency_ms)}`}
      format={inMilliseconds}
      segments={rest > 0 ? [...phases, { label: 'Other', value: rest }] : phases}
    />
  );
}

/** What to set the variables of a command to. */
const CREDENTIALS = [
  ['$token', 'Set token to an MCP token of this user.'],
  ['$secret', 'Set client_id and secret to the API credentials of this environment.'],
  [
    '$client_id:$key',
    'Set client_id and key to the client ID and an API key of this environment, or the secret if it is accepted for requests.',
  ],
  ['$key', 'Set key to an API key of this environment, or to an access token.'],
  ['/oauth/token', 'For the client credentials grant, add -u "$client_id:$key".'],
] as const;

function requestContent({ entry, curl }: EntryPageProps): VNode {
  const [, file] = /@(body\.\w+)/.exec(curl) ?? [];
  const credentials = CREDENTIALS.find(([variable]) => curl.includes(variable))?.[1] ?? '';
  return (
    <>
      <CodeBlock title="Repeat with curl" code={curl} id={CURL} />
      <p class="hint">
        {`${credentials} ${entry.tool === null ? '' : 'The log does not keep the arguments of tools: add yours. '}${
          file ? `The log does not keep the bodies of requests: save yours as ${file}. ` : ''
        }${entry.path?.includes('***') ? 'Replace ***, which stands for something that looks like a secret. ' : ''}`}
      </p>
    </>
  );
}

/** Says why an attempt has no status code. */
function noResponse({ reason }: SingleRequestLogEntryResponse): string {
  if (reason === 'INTERRUPTED') return 'The service was interrupted, so the response is not known.';
  return reason === 'NOT_HTTP' || reason === 'HEADERS_TOO_LARGE'
    ? 'No response that could be read.'
    : 'There was no response.';
}

/** The log keeps the text of responses that do not count as received. */
function responseContent(entry: SingleRequestLogEntryResponse): VNode {
  const { response_body: body, status_code: status } = entry;
  if (body !== null) return <CodeBlock title="Response of your endpoint" code={readable(body)} />;
  return (
    <p>
      {status === 200
        ? 'The endpoint responded with 200. The log keeps only the text of other responses.'
        : 'The response of your endpoint had no text.'}
    </p>
  );
}

function eventContent({ entry, eventBody, curl }: EntryPageProps): VNode {
  return (
    <>
      {eventBody === undefined ? (
        <p>The event is no longer stored.</p>
      ) : (
        <CodeBlock title="Event" code={readable(eventBody)} />
      )}
      <CodeBlock title="Repeat with curl" code={curl} id={CURL} />
      <p class="hint">
        {`The command has no valid signature, so your receiver should reject it unless you disable the check. To get a signed delivery, use “Send again”. ${
          entry.url?.includes('***')
            ? 'Replace ***, which stands for something that looks like a secret.'
            : ''
        }`}
      </p>
    </>
  );
}

/** Indentation makes usual JSON up to four times as long, but a response that is nested deeply a thousand times. */
const MAX_INDENTED = 8;

function readable(body: string): string {
  try {
    const indented = JSON.stringify(JSON.parse(body), null, 2);
    return indented.length > MAX_INDENTED * body.length ? body : indented;
  } catch {
    return body;
  }
}

/** Explains status codes of the API, if the log does not have the message of the error. */
const API_EXPLANATIONS: Readonly<Record<number, string>> = {
  400: 'The request was not valid.',
  401: 'The credentials were missing or wrong. Check the client ID, the secret and the environment that they belong to.',
  403: 'The credentials do not allow this request.',
  404: 'Nothing exists at this path, or the thing that the path names does not exist in this environment.',
  405: 'This path exists, but not with this HTTP method.',
  409: 'The request conflicts with the current state.',
  413: 'The request body was too large.',
  415: 'The Content-Type header of the request is not supported.',
  429: 'Too many requests were sent in a short time. Wait as long as the Retry-After header of the response says.',
};

function explanationOf({
  type,
  status_code: status,
  reason,
  error_message: message,
}: SingleRequestLogEntryResponse): string {
  if (type === 'webhook') {
    if (reason === null) return 'Your endpoint received the event.';
    if (reason === 'NON_200') return `Your endpoint responded with ${status}. Only 200 counts as received.`;
    return deliveryFailure(reason).explanation;
  }
  if (status < 400) return 'The request succeeded. The log keeps its status, but not the response.';
  if (message !== null) return message;
  return (
    API_EXPLANATIONS[status] ??
    (status < 500
      ? 'The request was rejected.'
      : 'The service could not process the request. You can safely retry a request that only reads.')
  );
}
