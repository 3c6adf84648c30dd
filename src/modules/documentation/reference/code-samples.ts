import type { DescribedOperation, Parameter, ReferenceDocument } from './described-operation.js';

/** A request of an operation as a program, in one language. */
export interface CodeSample {
  readonly label: string;
  /** As `highlightedCode` knows it. */
  readonly language: string;
  readonly code: string;
}

/** Operations that agents request with their own OAuth libraries, so the SDKs have no methods for them. */
const WITHOUT_SDK = 'Agent connector';

/** The credentials of the security schemes: the option of curl, and those of the SDKs, by the variables of the guides. */
const CREDENTIALS: Readonly<
  Record<string, { readonly curl: string; readonly options: readonly (readonly [string, string])[] }>
> = {
  basic: {
    curl: '-u "$client_id:$secret"',
    options: [
      ['clientId', 'client_id'],
      ['clientSecret', 'secret'],
    ],
  },
  bearer: { curl: '-H "Authorization: Bearer $access_token"', options: [['accessToken', 'access_token']] },
  'service-token': {
    curl: '-H "Authorization: Bearer $service_token"',
    options: [['serviceToken', 'service_token']],
  },
};
const NONE = { curl: '', options: [] };

/** The option of the SDKs for the address of a surface that has its own. */
const SERVER_OPTIONS: Readonly<Record<string, string>> = {
  'Dashboard API': 'dashboardUrl',
  Careers: 'careersUrl',
  'Internal API': 'internalUrl',
};

/** Returns the request of an operation with curl, and with the SDKs if they have the operation. @param baseUrl of the platform API */
export function codeSamplesOf(
  operation: DescribedOperation,
  baseUrl: string,
  document: ReferenceDocument,
): CodeSample[] {
  const request = new SampleRequest(operation, baseUrl, document);
  const samples = [{ label: 'curl', language: 'sh', code: request.curl() }];
  if (operation.tag.startsWith(WITHOUT_SDK)) return samples;
  return [
    ...samples,
    { label: 'TypeScript', language: 'ts', code: request.typescript() },
    { label: 'Python', language: 'py', code: request.python() },
  ];
}

/** API keys can be sent in two ways. The guides send them, and secrets, with the ID of the client. */
function schemeOf({ schemes }: DescribedOperation): string {
  return schemes.find((each) => each === 'basic') ?? schemes[0] ?? '';
}

class SampleRequest {
  private readonly credentials = CREDENTIALS[schemeOf(this.operation)] ?? NONE;
  private readonly body = this.operation.body?.examples[0];
  private readonly inPath = this.valuesOf('path');
  private readonly query = this.valuesOf('query', ({ required = false }) => required);
  private readonly isStream: boolean;
  private readonly isPaged: boolean;

  constructor(
    private readonly operation: DescribedOperation,
    private readonly baseUrl: string,
    private readonly document: ReferenceDocument,
  ) {
    const response = operation.responses.find(({ status }) => status.startsWith('2'))?.body;
    const cursor = response && document.resolve(response.schema).properties?.['next_cursor'];
    this.isStream = response?.type === 'text/event-stream';
    // The event feed always has a next cursor, so its method returns a page.
    this.isPaged =
      operation.method === 'GET' && cursor !== undefined && document.withoutNull(cursor).isNullable;
  }

  curl(): string {
    const { method, path, server, body } = this.operation;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(this.inPath[name])),
    );
    const query = new URLSearchParams(
      Object.entries(this.query).map(([name, value]) => [name, String(value)]),
    );
    const url = `${server ?? this.baseUrl}${filled}${query.size > 0 ? `?${query}` : ''}`;
    const isUsual = method === 'GET' || (method === 'POST' && body !== undefined);
    return [
      `curl -sS${this.isStream ? 'N' : ''}${isUsual ? '' : ` -X ${method}`} '${url}'`,
      ...(this.credentials.curl === '' ? [] : [this.credentials.curl]),
      ...(body ? bodyOptions(body.type, this.body) : []),
    ].join(' \\\n  ');
  }

  typescript(): string {
    const { id, body } = this.operation;
    const args = [
      ...Object.values(this.inPath),
      ...(Object.keys(this.query).length > 0 ? [this.query] : []),
      ...(body ? [this.body] : []),
    ];
    const call = `client.${id}(${args.map((value) => literal(value, JAVASCRIPT)).join(', ')})`;
    const { options } = this.credentials;
    const variables = options.map(([option, variable]) => `${variable}: ${option}`).join(', ');
    const names = ['baseUrl', ...options.map(([option]) => option)];
    const settings = [
      `baseUrl: ${literal(this.baseUrl, JAVASCRIPT)}`,
      ...this.serverOption().map(([name, url]) => `${name}: ${literal(url, JAVASCRIPT)}`),
      ...names.slice(1),
    ];
    return [
      "import { MerchantConnectivity } from '@merchant-connectivity/sdk';",
      '',
      ...(variables === '' ? [] : [`const { ${variables} } = process.env;`]),
      `const client = new MerchantConnectivity({ ${settings.join(', ')} });`,
      ...(this.isPaged
        ? [`for await (const item of ${call}) console.log(item);`]
        : [
            `const result = await ${call};`,
            `console.log(${this.isStream ? 'await result.text()' : 'result'});`,
          ]),
    ].join('\n');
  }

  python(): string {
    const { id, body } = this.operation;
    const isWhole = body !== undefined && this.document.resolve(body.schema).oneOf !== undefined;
    const named = { ...(isWhole ? {} : (this.body as object | undefined)), ...this.query };
    const args = [
      ...[...Object.values(this.inPath), ...(isWhole ? [this.body] : [])].map((value) =>
        literal(value, PYTHON),
      ),
      ...Object.entries(named).map(([name, value]) => `${name}=${literal(value, PYTHON)}`),
    ];
    const call = `client.${snakeCase(id)}(${wrapped(args)})`;
    const settings = [
      literal(this.baseUrl, PYTHON),
      ...this.serverOption().map(([name, url]) => `${snakeCase(name)}=${literal(url, PYTHON)}`),
      ...this.credentials.options.map(
        ([option, variable]) => `${snakeCase(option)}=os.environ["${variable}"]`,
      ),
    ];
    const use = this.isPaged
      ? `for item in ${call}:\n    print(item)`
      : this.isStream
        ? `with ${call} as response:\n    for line in response.iter_lines():\n        print(line)`
        : `print(${call})`;
    return [
      'import os',
      'from merchant_connectivity import MerchantConnectivity',
      '',
      `with MerchantConnectivity(${wrapped(settings)}) as client:`,
      use.replaceAll(/^(?=.)/gm, '    '),
    ]
      .slice(this.credentials.options.length > 0 ? 0 : 1)
      .join('\n');
  }

  private serverOption(): [string, string][] {
    const { server, tag } = this.operation;
    const option = SERVER_OPTIONS[tag.split(' · ')[0] ?? ''];
    return server === undefined || option === undefined ? [] : [[option, server]];
  }

  private valuesOf(
    place: string,
    isWanted: (parameter: Parameter) => boolean = () => true,
  ): Record<string, unknown> {
    const parameters = this.operation.parameters.filter((each) => each.in === place && isWanted(each));
    return Object.fromEntries(
      parameters.map(({ name, example, schema = {} }) => [name, example ?? this.document.exampleOf(schema)]),
    );
  }
}

/** Returns the options of curl that send a body. */
function bodyOptions(type: string, body: unknown): string[] {
  if (type !== 'application/json')
    return Object.entries(body as object).map(
      ([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`,
    );
  return ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body, null, 2))}`];
}

/** Quotes a value for a POSIX shell. */
const quoted = (value: string): string => `'${value.replaceAll("'", String.raw`'\''`)}'`;

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** How a language writes values. */
interface Notation {
  readonly constants: Readonly<Record<string, string>>;
  readonly name: (name: string) => string;
  readonly text: (text: string) => string;
}

const PYTHON: Notation = {
  constants: { true: 'True', false: 'False', null: 'None' },
  name: (name) => JSON.stringify(name),
  text: (text) => JSON.stringify(text),
};
const JAVASCRIPT: Notation = {
  constants: {},
  name: (name) => (/^[a-z_]\w*$/i.test(name) ? name : JAVASCRIPT.text(name)),
  text: (text) =>
    `'${JSON.stringify(text)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"')
      .replaceAll("'", String.raw`\'`)}'`,
};

function literal(value: unknown, notation: Notation): string {
  if (typeof value === 'string') return notation.text(value);
  if (typeof value !== 'object' || value === null) return notation.constants[String(value)] ?? String(value);
  if (Array.isArray(value)) return `[${wrapped(value.map((item) => literal(item, notation)))}]`;
  const members = Object.entries(value).map(
    ([name, member]) => `${notation.name(name)}: ${literal(member, notation)}`,
  );
  return members.length === 0 ? '{}' : wrapped(members, ['{ ', ' }']);
}

/** Characters of a line that fit in the column of the samples. */
const WIDTH = 44;

/** Joins parts with commas: on one line, or each on its own. @param ends what surrounds them */
function wrapped(parts: readonly string[], [start, end] = ['', '']): string {
  const line = parts.join(', ');
  if (line.length <= WIDTH && !line.includes('\n')) return `${start}${line}${end}`;
  // A single object or list begins on the line of its container.
  if (parts.length === 1 && start === '' && /^[{[]/.test(line)) return line;
  const lines = parts.map((part) => `  ${part.replaceAll('\n', '\n  ')},\n`).join('');
  return `${start.trim()}\n${lines}${end.trim()}`;
}
