import type { ComponentChildren, VNode } from 'preact';
import type { Parameter, ReferenceDocument, Schema } from './described-operation.js';
import { typesOf } from './described-operation.js';
import { Description, useReference } from './reference-context.js';

/** Values of an enumeration that a field shows; longer lists open. */
const MAX_SHOWN_VALUES = 12;

interface FieldsProps {
  readonly schema: Schema;
  /** Whether the reader receives the fields, instead of sending them. */
  readonly isReceived?: boolean;
  /** The schemas that contain this one, which it may refer to. */
  readonly within?: readonly string[];
}

/** The fields of an object, or of the items of a list; of a schema with alternatives, those of each. */
export function SchemaFields({ schema, isReceived = false, within = [] }: FieldsProps): VNode | null {
  const { document } = useReference();
  if (schema.$ref && within.includes(schema.$ref)) return null;
  const inner = schema.$ref ? [...within, schema.$ref] : within;
  const {
    properties,
    required = [],
    items,
    oneOf,
    additionalProperties,
  } = document.withoutNull(schema).schema;
  if (items) return <SchemaFields schema={items} isReceived={isReceived} within={inner} />;
  if (oneOf?.some((option) => hasFields(option, document)))
    return (
      <>
        {oneOf.map((option) => (
          <details>
            <summary>{alternativeName(option, document)}</summary>
            <SchemaFields schema={option} isReceived={isReceived} within={inner} />
          </details>
        ))}
      </>
    );
  if (!properties)
    return typeof additionalProperties === 'object' ? (
      <SchemaFields schema={additionalProperties} isReceived={isReceived} within={inner} />
    ) : null;
  return (
    <ul class="fields">
      {Object.entries(properties).map(([name, property]) => (
        <Field
          name={name}
          schema={property}
          isRequired={required.includes(name)}
          isReceived={isReceived}
          within={inner}
        />
      ))}
    </ul>
  );
}

/** Parameters of a request, or headers of a response. */
export function ParameterFields({
  parameters,
  isReceived = false,
}: Pick<FieldsProps, 'isReceived'> & { readonly parameters: readonly Parameter[] }): VNode {
  return (
    <ul class="fields">
      {parameters.map(({ name, description, required = false, schema = {} }) => (
        <Field
          name={name}
          schema={{ ...schema, ...(description !== undefined && { description }) }}
          isRequired={required}
          isReceived={isReceived}
        />
      ))}
    </ul>
  );
}

interface FieldProps extends FieldsProps {
  readonly name: string;
  readonly isRequired: boolean;
}

function Field({ name, schema, isRequired, isReceived = false, within = [] }: FieldProps): VNode {
  const { document } = useReference();
  const { schema: own, isNullable } = document.withoutNull(schema);
  const limits = limitsOf(own, document);
  return (
    <li>
      <div>
        <code>{name}</code> <span class="type">{typeText(own, document)}</span>
        {isNullable ? <span class="type"> or null</span> : null}
        {isRequired && !isReceived ? <b> required</b> : null}
        {!isRequired && isReceived ? <b> may be absent</b> : null}
      </div>
      <Description text={own.description} />
      {limits.length > 0 ? (
        <p class="limits">{limits.map((limit, index) => [index > 0 ? ' · ' : '', limit])}</p>
      ) : null}
      <Values values={valuesOf(own, document)} />
      {hasFields(own, document) ? (
        <details>
          <summary>
            Fields of <code>{name}</code>
          </summary>
          <SchemaFields schema={schema} isReceived={isReceived} within={within} />
        </details>
      ) : null}
    </li>
  );
}

function Values({ values }: { readonly values: readonly unknown[] }): VNode | null {
  if (values.length === 0) return null;
  const list = values.map((value, index) => [index > 0 ? ', ' : '', <code>{String(value)}</code>]);
  if (values.length <= MAX_SHOWN_VALUES) return <p class="limits">One of {list}</p>;
  return (
    <details>
      <summary>One of {values.length} values</summary>
      <p class="limits">{list}</p>
    </details>
  );
}

/** Whether a schema has fields to show, in itself, its items or its alternatives. */
function hasFields(schema: Schema, document: ReferenceDocument): boolean {
  const { properties, items, oneOf, additionalProperties } = document.withoutNull(schema).schema;
  const inner = [
    ...(items ? [items] : []),
    ...(oneOf ?? []),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  return properties !== undefined || inner.some((each) => hasFields(each, document));
}

/** Returns the constant that distinguishes an alternative from the others, such as the name of the event, or its type. */
function alternativeName(option: Schema, document: ReferenceDocument): ComponentChildren {
  const { properties = {} } = document.resolve(option);
  const constant = Object.values(properties).find((property) => property.const !== undefined)?.const;
  return constant === undefined ? (
    typeText(document.withoutNull(option).schema, document)
  ) : (
    <code>{String(constant)}</code>
  );
}

function typeText(schema: Schema, document: ReferenceDocument): string {
  const { items, oneOf, format } = schema;
  if (items)
    return `array of ${typeText(document.withoutNull(items).schema, document)}s`.replace('ys', 'ies');
  if (oneOf) {
    const options = oneOf.map((option) => typeText(document.withoutNull(option).schema, document));
    return [...new Set(options)].join(' or ');
  }
  const [type = 'any value'] = typesOf(schema);
  return format === undefined || type === 'integer' ? type : `${type} (${format})`;
}

function valuesOf({ enum: values, items }: Schema, document: ReferenceDocument): readonly unknown[] {
  return (values ?? (items && document.resolve(items).enum) ?? []).filter((value) => value !== null);
}

/** Returns the limits of a value, and its default. */
function limitsOf(schema: Schema, document: ReferenceDocument): ComponentChildren[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, pattern } = schema;
  const limits: readonly (readonly [number | undefined, number | undefined, string])[] = [
    [minLength, maxLength, 'character'],
    [minimum, maximum === MAX_INTEGER ? undefined : maximum, ''],
    [minItems, maxItems, 'item'],
  ];
  const { const: only } = document.resolve(schema);
  return [
    ...(only === undefined
      ? []
      : [
          <>
            Always <code>{String(only)}</code>
          </>,
        ]),
    ...limits.map(([least, most, unit]) => rangeText(least, most, unit)).filter((text) => text !== undefined),
    ...(pattern === undefined || pattern === NOT_BLANK || pattern.length > MAX_PATTERN
      ? []
      : [
          <>
            Pattern <code>{pattern}</code>
          </>,
        ]),
    ...(schema.default === undefined
      ? []
      : [
          <>
            Default <code>{String(schema.default)}</code>
          </>,
        ]),
  ];
}

/** Limits that every value of the type has. */
const MAX_INTEGER = 2_147_483_647;
const NOT_BLANK = String.raw`\S`;
/** Longer patterns help no reader; their fields are described in words, too. */
const MAX_PATTERN = 60;

/** @param unit in the singular; empty for a number */
function rangeText(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  const last = most ?? least;
  const units = unit === '' ? '' : ` ${unit}${last === 1 ? '' : 's'}`;
  if (last === undefined) return undefined;
  if (most === undefined) return `at least ${least}${units}`;
  return least === undefined ? `at most ${most}${units}` : `${least} to ${most}${units}`;
}
