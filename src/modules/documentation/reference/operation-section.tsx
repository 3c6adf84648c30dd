import type { ComponentChildren, VNode } from 'preact';
import { breakable } from '../documentation.pages.js';
import { highlightedCode, tabsOf } from '../rendered-markdown.js';
import { codeSamplesOf } from './code-samples.js';
import type { Body, DescribedOperation, DescribedResponse } from './described-operation.js';
import { Description, JsonBlock, useReference } from './reference-context.js';
import { ParameterFields, SchemaFields } from './schema-fields.js';
import { TryIt } from './try-it.js';

interface OperationProps {
  readonly operation: DescribedOperation;
}

/** The headings above the parameters of each place. */
const PLACES: readonly (readonly [place: string, title: string])[] = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['header', 'Headers'],
];

/** An operation: what it does and takes, what it returns, and beside that a request, its response, and the form. */
export function OperationSection({ operation }: OperationProps): VNode {
  const { id, summary, description, isWebhook, parameters, body, responses, hasCallbacks } = operation;
  const isSuccess = ({ status }: DescribedResponse): boolean => status.startsWith('2');
  return (
    <section class="operation" aria-labelledby={id}>
      <h2 id={id}>
        {summary}{' '}
        <a class="anchor" href={`#${id}`} aria-label={`Link to “${summary}”`}>
          #
        </a>
      </h2>
      <Route {...operation} />
      <div class="columns">
        <div>
          <Description text={description} />
          {hasCallbacks ? (
            <p>
              The endpoint receives <a href="/docs/api/webhooks">webhooks</a>.
            </p>
          ) : null}
          {isWebhook ? null : <Requirements operation={operation} />}
          {PLACES.map(([place, title]) => {
            const fields = parameters.filter((parameter) => parameter.in === place);
            if (fields.length === 0) return null;
            return isWebhook ? (
              <details>
                <summary>{title}</summary>
                <ParameterFields parameters={fields} isReceived />
              </details>
            ) : (
              <>
                <h3>{title}</h3>
                <ParameterFields parameters={fields} />
              </>
            );
          })}
          {body ? (
            <>
              <h3>
                Body <span class="type">{bodyNote(body)}</span>
              </h3>
              <SchemaFields schema={body.schema} isReceived={isWebhook} />
            </>
          ) : null}
          <h3>{isWebhook ? 'Your responses' : 'Responses'}</h3>
          {responses.map((response) => (
            <Response response={response} isOpen={!isWebhook && isSuccess(response)} />
          ))}
        </div>
        <div class="samples">
          {isWebhook ? <Example body={body} title="Example" /> : <Samples operation={operation} />}
          {isWebhook ? null : <TryIt operation={operation} />}
          {responses.filter(isSuccess).map((response) => (
            <Example body={response.body} title={`Response ${response.status}`} />
          ))}
        </div>
      </div>
    </section>
  );
}

/** The method and path of an operation, or the name of an event. */
function Route({ method, path }: Pick<DescribedOperation, 'method' | 'path'>): VNode {
  return (
    <p class="route">
      <b class={`method ${method.toLowerCase()}`}>{method}</b> <code>{breakable(path)}</code>
    </p>
  );
}

const bodyNote = ({ type, isRequired }: Body): string => `${type}${isRequired ? '' : ', optional'}`;

/** The credentials that requests need, by security scheme. */
const SCHEMES: Readonly<Record<string, string>> = {
  basic: 'Basic: `client_id` and `secret`, or an API key',
  bearer: 'Bearer: an access token or an API key',
  session: 'the login of a user in a browser',
  'service-token': 'Bearer: a service token',
};
const REPETITION: Readonly<Record<string, string>> = {
  always: 'safe',
  with_idempotency_key: 'safe with an idempotency key',
  never: 'not safe',
};

function Requirements({ operation }: OperationProps): VNode {
  const { schemes, scope, repeatable, server } = operation;
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    ['Credentials', schemes.map((scheme) => SCHEMES[scheme] ?? scheme).join('; ') || 'none'],
    ['Scope', scope && `\`${scope}\``],
    ['Address', server && `\`${server}\``],
  ];
  return (
    <dl class="requirements">
      {rows
        .filter(([, text]) => text)
        .map(([name, text]) => (
          <>
            <dt>{name}</dt>
            <dd>
              <Description text={String(text)} />
            </dd>
          </>
        ))}
      {repeatable === undefined ? null : (
        <>
          <dt>
            <a href="/docs/retrying#operations-that-are-safe-to-repeat">Repeating</a>
          </dt>
          <dd>{REPETITION[repeatable] ?? repeatable}</dd>
        </>
      )}
    </dl>
  );
}

function Response({
  response,
  isOpen,
}: {
  readonly response: DescribedResponse;
  readonly isOpen: boolean;
}): VNode {
  const { status, description, headers, body } = response;
  const codes = (body?.examples ?? []).map((example) => errorCodeOf(example)).filter(Boolean);
  return (
    <details class="response" open={isOpen}>
      <summary>
        <b class={`status-${status[0]}`}>{status}</b>{' '}
        {[...new Set(codes)].map((code, index) => [index > 0 ? ', ' : '', <code>{breakable(code)}</code>])}
      </summary>
      <Description text={description} />
      {headers.length > 0 ? (
        <details>
          <summary>Headers</summary>
          <ParameterFields parameters={headers} />
        </details>
      ) : null}
      {body === undefined ? null : isOpen ? (
        <ResponseFields body={body} />
      ) : (
        body.examples.map((example) => <JsonBlock value={example} />)
      )}
    </details>
  );
}

/** Fields that are shown at once. More would push the errors off the screen. */
const MAX_SHOWN_FIELDS = 6;

function ResponseFields({ body: { schema } }: { readonly body: Body }): VNode {
  const { document } = useReference();
  const { properties = {} } = document.withoutNull(schema).schema;
  return (
    <details open={Object.keys(properties).length <= MAX_SHOWN_FIELDS}>
      <summary>Fields</summary>
      <SchemaFields schema={schema} isReceived />
    </details>
  );
}

/** Returns the code of an error, which OAuth calls `error`. */
function errorCodeOf(example: unknown): string {
  const { error_code: code, error } = (example ?? {}) as { error_code?: string; error?: string };
  return code ?? error ?? '';
}

/** A request with curl and with the SDKs. */
function Samples({ operation }: OperationProps): VNode {
  const { baseUrl, document } = useReference();
  const tabs = codeSamplesOf(operation, baseUrl, document).map(({ label, language, code }) => ({
    label,
    html: `<pre tabindex="0"><code>${highlightedCode(code, language)}</code></pre>`,
  }));
  return <div dangerouslySetInnerHTML={{ __html: tabsOf(tabs, `${operation.id}-sample`) }} />;
}

function Example({ body, title }: { readonly body: Body | undefined; readonly title: string }): VNode | null {
  const value = body?.examples[0];
  if (value === undefined) return null;
  return (
    <figure class="example">
      <figcaption>{title}</figcaption>
      <JsonBlock value={value} />
    </figure>
  );
}
