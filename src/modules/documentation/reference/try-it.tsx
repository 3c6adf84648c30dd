import type { VNode } from 'preact';
import { typesOf, type DescribedOperation, type Schema } from './described-operation.js';
import { useReference } from './reference-context.js';

/** The fields of each security scheme. The name of a field is the part of the request that the field fills. */
const CREDENTIALS: Readonly<Record<string, readonly (readonly [name: string, label: string])[]>> = {
  basic: [
    ['client_id', 'Client ID'],
    ['secret', 'Secret or API key'],
  ],
  bearer: [['token', 'Access token or API key']],
  'service-token': [['service_token', 'Service token']],
};

/** A form that sends a request of the operation. The script shows it, and fills in the credentials that were entered before. */
export function TryIt({ operation }: { readonly operation: DescribedOperation }): VNode {
  const { method, path, server, parameters, schemes, id } = operation;
  const takesLogin = schemes.includes('session');
  return (
    <details class="try" hidden>
      <summary>Try it</summary>
      <form
        autocomplete="off"
        noValidate
        data-method={method}
        data-path={path}
        data-server={server}
        data-type={operation.body?.type}
        data-login={takesLogin ? '' : undefined}
        aria-label={`Try ${operation.summary}`}
      >
        {schemes
          .flatMap((scheme) => CREDENTIALS[scheme] ?? [])
          .map(([name, label]) => (
            <label>
              <span>{label}</span>
              <input
                name={`credentials.${name}`}
                type={name === 'client_id' ? 'text' : 'password'}
                autocomplete="off"
              />
            </label>
          ))}
        {schemes.length > 0 ? (
          <p class="limits">
            Credentials stay in the memory of this page.
            {takesLogin ? ' Without a token, the request uses your login to the dashboard.' : null}
          </p>
        ) : null}
        {parameters.map(({ name, in: place, required = false, schema = {}, example }) => (
          <Input
            name={`${place}.${name}`}
            label={name}
            schema={schema}
            isRequired={required}
            // A filter that the reader has not chosen would hide what there is.
            value={required || place === 'path' ? (example ?? firstOf(schema)) : undefined}
          />
        ))}
        <BodyInputs operation={operation} />
        <p class="actions">
          <button class="send">Send request</button>
          <button class="stop" type="button" hidden>
            Stop
          </button>
        </p>
      </form>
      {server === undefined ? null : (
        <p class="elsewhere" hidden>
          This operation is at another address: <a href={`${server}${operation.href}`}>try it there</a>.
        </p>
      )}
      <div class="answer" id={`${id}-answer`} aria-live="polite" />
    </details>
  );
}

const firstOf = ({ example, examples = [], enum: [choice] = [], const: only }: Schema): unknown =>
  example ?? examples[0] ?? only ?? choice;

/** The fields of the body, with the values of the example; the whole body if it has several forms. */
function BodyInputs({ operation: { body } }: { readonly operation: DescribedOperation }): VNode | null {
  const { document } = useReference();
  if (!body) return null;
  const { properties, required = [] } = document.resolve(body.schema);
  const [example] = body.examples as [Record<string, unknown> | undefined];
  if (!properties) return <Input name="body" label="Body" schema={body.schema} isRequired value={example} />;
  return (
    <>
      {Object.entries(properties).map(([name, schema]) => (
        <Input
          name={`body.${name}`}
          label={name}
          schema={schema}
          isRequired={required.includes(name)}
          value={example?.[name]}
        />
      ))}
    </>
  );
}

interface InputProps {
  readonly name: string;
  readonly label: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly value: unknown;
}

/** A field whose control fits the type. Values that are not text are entered as JSON. */
function Input({ name, label, schema, isRequired, value }: InputProps): VNode {
  const { document } = useReference();
  const { schema: own } = document.withoutNull(schema);
  const [type, ...others] = typesOf(own);
  const isText = type === 'string' && others.length === 0;
  const choices = isText ? own.enum : type === 'boolean' ? [true, false] : undefined;
  const text =
    value === undefined || value === null ? '' : isText ? String(value) : JSON.stringify(value, null, 2);
  const attributes = { name, required: isRequired, 'data-json': isText ? undefined : '' };
  const isLong = !isText && type !== 'integer' && type !== 'number';
  return (
    <label>
      <span>
        <code>{label}</code>
        {isRequired ? <b> required</b> : null}
      </span>
      {choices ? (
        <select {...attributes}>
          {isRequired ? null : <option value="" />}
          {choices.map((choice) => (
            <option selected={String(choice) === text}>{String(choice)}</option>
          ))}
        </select>
      ) : isLong ? (
        <textarea {...attributes} rows={Math.min(12, text.split('\n').length)} spellcheck={false}>
          {text}
        </textarea>
      ) : (
        <input {...attributes} value={text} spellcheck={false} />
      )}
    </label>
  );
}
