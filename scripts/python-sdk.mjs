import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADER = '# Generated from openapi.json. Run `npm run openapi` after changes.\n';
const WIDTH = 100;
/** Names of parameters that methods have for every operation. */
const RESERVED = new Set(['self', 'options']);
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);
const SCALARS = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };

const snakeCase = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascalCase = (name) => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());
const literal = (value) => (value === null ? 'None' : JSON.stringify(value));
const indented = (text, spaces) => text.replaceAll(/^(?=.)/gm, ' '.repeat(spaces));
const isNullable = ({ type, oneOf, anyOf, enum: values }) =>
  [type].flat().includes('null') ||
  (values ?? []).includes(null) ||
  [...(oneOf ?? []), ...(anyOf ?? [])].some(isNullable);

function docstring(text) {
  const escaped = text
    .trim()
    .replaceAll('\\', '\\\\')
    .replaceAll('"""', String.raw`\"""`);
  return escaped.includes('\n') || escaped.endsWith('"') ? `"""${escaped}\n"""` : `"""${escaped}"""`;
}

/** Joins parts with commas, and breaks the line where it would be too long. */
function filled(open, parts, close, indent) {
  const line = `${open}${parts.join(', ')}${close}`;
  if (line.length + indent <= WIDTH) return line;
  const lines = [''];
  for (const part of parts) {
    const extended = lines.at(-1) === '' ? part : `${lines.at(-1)} ${part}`;
    if (extended.length + indent + 5 <= WIDTH) lines[lines.length - 1] = `${extended},`;
    else lines.push(`${part},`);
  }
  return `${open}\n${lines.map((each) => `    ${each}\n`).join('')}${close}`;
}

/**
 * Writes the types and methods of the Python SDK: schemas.py has a type for each schema of a response, _client.py the methods of
 * both clients, _operations.py their requests, and _version.py the release. The parameters of a method are the fields of its request.
 *
 * @param described the operations and schemas of the API document, as generate-sdk.mjs reads them
 */
export function writePythonSdk(folder, { operations, schemas, version }) {
  mkdirSync(folder, { recursive: true });
  const types = new Types(schemas);
  const methods = operations.map((operation) => methodOf(operation, schemas, types));
  for (const name of ['ErrorType', 'ErrorCode', 'OAuthErrorCode', 'WebhookEvent'])
    types.of({ $ref: `#/components/schemas/${name}` });
  const files = {
    'schemas.py': types.module(),
    '_operations.py': operationsModule(methods),
    '_client.py': clientModule(methods),
    '_version.py': `VERSION = "${version}"\n"""The release of the package."""\n`,
  };
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), HEADER + code);
}

/** Turns schemas into types. Those that have a name are written once they are used. */
class Types {
  classes = new Map();
  aliases = new Map();
  /** The classes of unions. With `@final`, type checkers tell them apart by `in`. */
  final = new Set();

  constructor(schemas) {
    this.schemas = schemas;
  }

  /**
   * @param name of the type if the schema describes an object in place
   * @param isRequest whether times may be given as `datetime`
   */
  of(schema, name, isRequest = false) {
    if (schema.$ref !== undefined) return this.named(schema.$ref.split('/').at(-1));
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    const options = schema.oneOf ?? schema.anyOf;
    if (options !== undefined) {
      const parts = options.map((each) => this.of(each, name, isRequest));
      if (parts.filter((each) => each !== 'None').length > 1) for (const part of parts) this.final.add(part);
      return this.union(parts);
    }
    if (Array.isArray(schema.type))
      return this.union(schema.type.map((type) => this.of({ ...schema, type }, name, isRequest)));
    if (schema.type === 'array') return `list[${this.of(schema.items, name, isRequest)}]`;
    if (schema.type === 'object') return this.object(schema, name);
    if (isRequest && schema.format === 'date-time') return 'datetime | str';
    return SCALARS[schema.type] ?? 'Any';
  }

  union(parts) {
    const unique = [...new Set(parts.flatMap((part) => part.split(/ \| (?![^[]*\])/)))];
    return [...unique.filter((each) => each !== 'None'), ...unique.filter((each) => each === 'None')].join(
      ' | ',
    );
  }

  object(schema, name) {
    const { additionalProperties, properties = {} } = schema;
    if (Object.keys(properties).length > 0) return this.class(name, schema);
    const isTyped = typeof additionalProperties === 'object';
    return `dict[str, ${isTyped ? this.of(additionalProperties, `${name}Value`) : 'Any'}]`;
  }

  named(name) {
    const schema = this.schemas[name];
    if (this.classes.has(name) || this.aliases.has(name)) return name;
    if (schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0)
      return this.class(name, schema);
    const type = this.of(schema, name);
    // After the aliases that it uses.
    this.aliases.set(name, { type, description: schema.description });
    return name;
  }

  class(name, { properties, required = [], description }) {
    this.classes.set(name, '');
    const typed = Object.entries(properties).map(([field, schema]) => {
      const type = this.of(schema, name + pascalCase(field));
      return [field, required.includes(field) ? type : `NotRequired[${type}]`, schema.description];
    });
    // Python's own words can only be names of fields in this form.
    if (typed.some(([field]) => !/^[a-z_]\w*$/i.test(field) || KEYWORDS.has(field))) {
      const members = typed.map(([field, type]) => `    "${field}": "${type}",`);
      this.classes.set(
        name,
        `${name} = TypedDict(\n    "${name}",\n    {\n${indented(members.join('\n'), 4)}\n    },\n)\n`,
      );
      return name;
    }
    const fields = typed.map(([field, type, text]) =>
      text === undefined ? `${field}: ${type}` : `${field}: ${type}\n${docstring(text)}`,
    );
    const parts = [...(description === undefined ? [] : [`${docstring(description)}\n`]), ...fields];
    this.classes.set(name, `class ${name}(TypedDict):\n${indented(parts.join('\n'), 4)}\n`);
    return name;
  }

  module() {
    const classes = [...this.classes]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, code]) => (this.final.has(name) && code.startsWith('class ') ? `@final\n${code}` : code));
    const aliases = [...this.aliases].map(([name, { type, description }]) => {
      const isUnion = type.includes(' | ') && !type.includes('[');
      const [, members] = /^Literal\[(.*)\]$/.exec(type) ?? [];
      const code =
        members !== undefined
          ? filled(`${name} = Literal[`, members.split(', '), ']', 0)
          : isUnion
            ? filled(`${name} = Union[`, type.split(' | '), ']', 0)
            : `${name} = ${type}`;
      return description === undefined ? `${code}\n` : `${code}\n${docstring(description)}\n`;
    });
    const code = [...classes, aliases.join('\n')].join('\n\n');
    const typing = ['Any', 'Literal', 'TypedDict', 'Union', 'final'].filter((name) =>
      new RegExp(String.raw`\b${name}\b`).test(code),
    );
    return `"""The types of responses, of webhooks, and of nested fields of requests."""

from __future__ import annotations

import sys
from typing import ${typing.join(', ')}

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


${code}`;
  }
}

/** Returns what both clients need for the method of an operation. */
function methodOf(operation, schemas, types) {
  const { id, summary, description, inPath, query, body, response, isStream, isPaged } = operation;
  const fields = (type) => {
    const { properties = {}, required = [], oneOf } = schemas[type];
    if (oneOf !== undefined) return undefined;
    return Object.entries(properties)
      .filter(([name]) => !(isPaged && name === 'next_cursor'))
      .map(([name, schema]) => ({ name, schema, isRequired: required.includes(name), type }));
  };
  const inQuery = query ? fields(query.type) : [];
  const inBody = body ? fields(body.type) : [];
  // An object of one of several shapes is one parameter.
  const whole = inBody === undefined ? `body: ${types.named(body.type)}` : undefined;
  const named = [...(inBody ?? []), ...inQuery];
  const parameters = named
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))
    .map(({ name, schema, isRequired, type }) => {
      if (RESERVED.has(name) || KEYWORDS.has(name) || inPath.includes(name))
        throw new Error(`${id} cannot have a parameter with the name ${name}.`);
      const python = types.of(schema, type + pascalCase(name), true);
      if (isRequired) return `${name}: ${python}`;
      if (isNullable(schema)) return `${name}: ${python} | Unset = UNSET`;
      return `${name}: ${python} | None = None`;
    });
  const dictionary = (list) => `{${list.map(({ name }) => `"${name}": ${name}`).join(', ')}}`;
  const given = (list) => {
    const [nullable, others] = [true, false].map((each) =>
      list.filter(({ schema, isRequired }) => (isNullable(schema) && !isRequired) === each),
    );
    return `given(${[dictionary(others), ...(nullable.length > 0 ? [dictionary(nullable)] : [])].join(', ')})`;
  };
  const result = isStream
    ? 'httpx.Response'
    : response === 'void'
      ? 'None'
      : types.of({ $ref: `/${response}` });
  return {
    constant: snakeCase(id).toUpperCase(),
    name: snakeCase(id),
    operation,
    parameters: [
      ...inPath.map((name) => `${name}: str | int`),
      ...(whole ? [whole] : []),
      '*',
      ...parameters,
      'options: RequestOptions | None = None',
    ],
    sent: [
      ...(inPath.length > 0 ? [`in_path={${inPath.map((name) => `"${name}": ${name}`).join(', ')}}`] : []),
      ...(query ? [`query=${given(inQuery)}`] : []),
      ...(body ? [`${body.isForm ? 'form' : 'body'}=${whole ? 'body' : given(inBody)}`] : []),
      'options=options',
    ],
    result,
    kind: isPaged ? 'pages' : isStream ? 'stream' : 'send',
    isFeed: schemas[response]?.properties?.has_more !== undefined,
    text: [
      `${summary}.\n\n${description.split('\n\n')[0]}`.trim(),
      ...(named.some(({ schema }) => schema.description)
        ? [
            `Args:\n${named
              .filter(({ schema }) => schema.description)
              .map(({ name, schema }) => `    ${name}: ${schema.description.replaceAll(/\s+/g, ' ')}`)
              .join('\n')}`,
          ]
        : []),
    ].join('\n\n'),
  };
}

/** Returns the method that iterates over the pages of a feed, which has no end. */
function followed(method) {
  const advice = `Reads page by page, and waits for further entries at the end. Remembers nothing: store \`next_cursor\` after you have processed a page, and begin with it the next time. Raises the error of a request that failed, also after its retries: begin again with your cursor. With \`wait=0\`, ends at the end of the feed. Pages can be empty.`;
  const [summary, ...others] = method.text.split('\n\n');
  const text = [summary.replace(/^Read /, 'Follow '), ...others.slice(0, 1), advice, ...others.slice(1)];
  return {
    ...method,
    name: method.name.replace(/^read_/, 'follow_'),
    kind: 'follow',
    text: text.join('\n\n'),
  };
}

function methodCode({ constant, name, parameters, sent, result, kind, text }, isAsync) {
  const types = {
    send: result,
    pages: `${isAsync ? 'Async' : ''}Pages[${result}]`,
    follow: `${isAsync ? 'Async' : ''}Iterator[${result}]`,
    stream: `Abstract${isAsync ? 'Async' : ''}ContextManager[httpx.Response]`,
  };
  const head = filled(
    `${isAsync && kind === 'send' ? 'async ' : ''}def ${name}(`,
    ['self', ...parameters],
    `) -> ${types[kind]}:`,
    4,
  );
  const call = filled(`self._${kind}(`, [`operations.${constant}`, ...sent], ')', 8);
  const returned = isAsync && kind === 'send' ? `await ${call}` : call;
  const body = kind === 'send' ? `result: ${result} = ${returned}\nreturn result` : `return ${returned}`;
  return `${head}\n${indented(`${docstring(text)}\n${body}`, 4)}\n`;
}

function operationsModule(methods) {
  const constants = methods.map(({ constant, operation }) => {
    const { id, method, path, surface, credentials, repeatable, acceptsKey } = operation;
    const values = [
      ...[id, method, path, surface, credentials].map((value) => `"${value}"`),
      ...(repeatable === 'always' ? [] : [`repeatable="${repeatable}"`]),
      ...(acceptsKey ? ['accepts_key=True'] : []),
    ];
    return filled(`${constant} = Operation(`, values, ')', 0);
  });
  return `"""The requests of the methods, as the API document describes them."""

from ._requests import Operation

${constants.join('\n')}
`;
}

function clientModule(methods) {
  const classes = [false, true].map((isAsync) => {
    const prefix = isAsync ? 'Async' : '';
    const text = `A client of the service${isAsync ? ' for asyncio' : ''}. It has a method for each operation of the API document.`;
    const code = methods
      .flatMap((method) => (method.isFeed ? [method, followed(method)] : [method]))
      .map((method) => methodCode(method, isAsync))
      .join('\n');
    return `class ${prefix}MerchantConnectivity(${prefix}Transport):\n    """${text}"""\n\n${indented(code, 4)}`;
  });
  const code = classes.join('\n\n');
  const imported = [
    ...new Set(
      methods.flatMap(({ result, parameters }) =>
        [result, ...parameters].flatMap((each) => each.match(/\b[A-Z]\w+\b/g) ?? []),
      ),
    ),
  ].filter(
    (name) => !['UNSET', 'Unset', 'RequestOptions', 'None', 'Literal', 'Response', 'Any'].includes(name),
  );
  const used = imported.filter((name) => new RegExp(String.raw`(?<!")\b${name}\b(?!")`).test(code));
  const typing = ['Any', 'Literal'].filter((name) => new RegExp(String.raw`\b${name}\b\[?`).test(code));
  const iterators = ['AsyncIterator', 'Iterator'].filter((name) => code.includes(` ${name}[`));
  return `from __future__ import annotations
${iterators.length > 0 ? `\nfrom collections.abc import ${iterators.join(', ')}` : ''}
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import ${typing.join(', ')}

import httpx

from . import _operations as operations
from ._pages import AsyncPages, Pages
from ._requests import UNSET, Operation, RequestOptions, Unset, given
from ._transport import AsyncTransport, Transport
${filled('from .schemas import (', used.toSorted(), ')', 0)}


${code}`;
}
