import { once } from 'node:events';
import { mkdirSync, mkdtempSync, chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import pg from 'pg';
import { parseAllDocuments } from 'yaml';
import { Guides } from '../../src/modules/documentation/guides.js';
import { startEmbeddedPostgres } from '../../src/infrastructure/embedded-postgres/index.js';
import { CommandSession } from '../support/programs/commands.js';
import { decide } from '../support/logins/device-flow.js';
import { allPages, blocksOf, brokenLinks, pagesToRun, type Block } from '../support/documents/documents.js';
import { eventually } from '../support/eventually.js';
import { Program } from '../support/programs/program.js';
import { hasPythonPackages, installPythonSdk, PYTHONPATH } from '../support/sdks/python-packages.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { quoted, Shell } from '../support/programs/shell.js';
import { differences } from '../support/documents/shown-response.js';
import { GOOD } from '../support/merchants/sign-in-links.js';
import { Visitor } from '../support/pages/visitor.js';

/*
 * Runs the blocks of each page in order:
 * - `sh` blocks run in one bash for the whole page, in a folder with the service and its `.data`. `<name>` becomes
 *   `$name`. As for a reader, the commands of a page that the documentation site publishes set all its variables. For the
 *   other pages, the test sets the credentials, and the values of each JSON response become variables.
 * - A `json` or `http` block after an `sh` block must match its response.
 * - `js`, `py` and `yaml` blocks that begin with a comment with a file name are written to that file. `sql` blocks are run. Any
 *   other `json` block must be a webhook event that matches the API document. `text` blocks are ignored.
 * - `<!-- not run: … -->` before a block gives the reason why it cannot be run.
 * - `<!-- meanwhile: a user approves -->` enters the user code that the block shows.
 * - `<!-- meanwhile: a user signs in -->` opens the sign-in link that the block shows, as the user of the sandbox.
 * - `<!-- in the background: … -->` runs the block in the background until the end of the page.
 */

const ROOT = join(import.meta.dirname, '..', '..');
const TIMEOUT = 120_000;
/** Shorter, so that the test says which block waits for something that does not happen. */
const BLOCK_TIMEOUT = 60_000;
/** Pages that extending.spec.ts runs with a copy of the sources. */
const RUN_ELSEWHERE = ['docs/extending.md', 'docs/extending-dashboard.md'];
/** The page whose programs `npx` starts. On the others, one process runs the commands of all pages: starting takes longer. */
const PAGE_WITH_NPX = 'docs/quickstart.md';
/** Commands of `mcs` that run until they are stopped, or wait for the user, have a process of their own. */
const OWN_PROCESS = `listen*|login|'logs tail'*`;
const NPX = `npx() {
  case "\${*:2}" in
    ${OWN_PROCESS}) "node_modules/.bin/$1" "\${@:2}" ;;
    *) in_session "$@" ;;
  esac
}
`;
/** The same with the operator commands. */
const ADMIN = `mcs-admin() { in_session mcs-admin "$@"; }\n`;
/** The pages that set their own variables. */
const PUBLISHED = new Set(new Guides().entries.map(({ file }) => file));

/** Its programs need Python with packages. */
const PYTHON_PAGE = 'docs/python.md';
const hasPython = hasPythonPackages('httpx', 'flask');

const pages = pagesToRun().filter(
  (page) => !RUN_ELSEWHERE.includes(page) && (page !== PYTHON_PAGE || hasPython),
);
const notRun = pagesToRun()
  .flatMap(blocksOf)
  .filter(({ instruction }) => instruction?.name === 'not run');

let folder: string;
let baseUrl: string;
/** Runs commands for shells. */
let sessions: Server;
/** Variables of the pages that do not set their own. */
let variables: Record<string, string>;
let login: { cookie: string };
/** The folder with the Python SDK. */
let pythonSdk: string;
/** The user code in a response that the page showed, until it is approved. */
let userCode: string | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'documents-'));
  // When root runs the test, PostgreSQL runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  for (const name of ['bin', 'node_modules', 'package.json', 'scripts', 'examples', 'openapi.json', 'docs']) {
    symlinkSync(join(ROOT, name), join(folder, name));
  }
  symlinkSync(join(process.env.TEST_BUNDLE ?? '', 'dist'), join(folder, 'dist'));
  sessions = await startSessions();
  if (hasPython) pythonSdk = await installPythonSdk();
  const service = new Program('main.js', {
    environment: {
      DATA_DIR: join(folder, '.data'),
      PORT: '0',
      // The receivers of the pages run on this machine.
      WEBHOOK_TARGETS: 'any',
      // Polling would fill the log.
      LOG_LEVEL: 'warn',
    },
  });
  [, baseUrl = ''] = await service.waitForOutput(/^Listening on (\S+)\./m);
  const { development, production, dashboard } = JSON.parse(
    readFileSync(join(folder, '.data', 'credentials.json'), 'utf8'),
  );
  rememberSecret(development.secret, production.secret, dashboard.password);
  const visitor = new Visitor({ baseUrl });
  await visitor.logIn(dashboard.email, dashboard.password);
  login = { cookie: `session=${visitor.session}` };
  const token = await accessToken(development.client_id);
  const { org } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    org: string;
  };
  variables = {
    base_url: baseUrl,
    dashboard: baseUrl,
    client_id: development.client_id,
    secret: development.secret,
    production_client_id: production.client_id,
    production_secret: production.secret,
    organization: org,
    access_token: token,
    production_access_token: await accessToken(production.client_id),
  };
}, TIMEOUT);

afterAll(async () => {
  sessions.close();
  await Program.endAll();
  // Stops the database, which the killed service left running.
  const { release } = await startEmbeddedPostgres({ directory: join(folder, '.data', 'postgres') });
  await release();
}, TIMEOUT);

describe('Links', () => {
  it.each(allPages())('of %s lead to existing files and headings', (page) =>
    expect(brokenLinks(page)).toEqual([]),
  );
});

describe('A block that is not run', () => {
  it.each(notRun.map((block) => [`${block.page}:${block.line}`, block.instruction?.text ?? '']))(
    'gives a reason: %s: %s',
    (_position, reason) => expect(reason).toMatch(/\w+ \w+ \w+/),
  );
});

describe('Pages', () => {
  it.each(pages)('%s works as documented', runPage, TIMEOUT);
});

async function runPage(page: string): Promise<void> {
  const shell = new Shell(folder, BLOCK_TIMEOUT);
  try {
    await shell.run(inSession(sessions));
    if (page !== PAGE_WITH_NPX) await shell.run(NPX);
    await shell.run(ADMIN);
    if (hasPython) await shell.run(`export PYTHONPATH=${quoted(`${pythonSdk}:${PYTHONPATH}`)}\n`);
    for (const [name, value] of Object.entries(givenTo(page))) await shell.set(name, value);
    let response: string | undefined;
    const blocks = blocksOf(page);
    for (const [index, block] of blocks.entries()) {
      const isShown = ['json', 'http'].includes(blocks[index + 1]?.language ?? '');
      try {
        response = await runBlock(block, { shell, response: response, isShown });
      } catch (error) {
        throw new Error(`${block.page}:${block.line}: ${(error as Error).message}`, { cause: error });
      }
    }
  } finally {
    await shell.end();
  }
}

/** Runs the commands that shells send, each in the process of its program, and responds with a script that shows the result. */
async function startSessions(): Promise<Server> {
  const options = { folder, environment: { XDG_CONFIG_HOME: join(folder, '.config') } };
  const programs: Record<string, CommandSession> = {
    '/mcs': new CommandSession(join(ROOT, 'clients/cli/dist/mcs.cjs'), options),
    '/mcs-admin': new CommandSession(process.env.TEST_BUNDLE ?? '', options),
  };
  const server = createServer(async (request, response) => {
    const parameters = (await text(request)).split('\0').slice(0, -1);
    const failed = (error: Error) => ({ code: 1, output: '', errors: error.message });
    const { code, output, errors } = await programs[request.url ?? '']!.run(parameters).catch(failed);
    response.end(`printf %s ${quoted(output)}; printf %s ${quoted(errors)} >&2; return ${code}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Returns a shell function that sends the name of a program and its arguments. */
function inSession(server: Server): string {
  const { port } = server.address() as AddressInfo;
  const send = `curl -sS --data-binary @- "http://127.0.0.1:${port}/$1"`;
  return `in_session() { eval "$(printf '%s\\0' "\${@:2}" | ${send})"; }\n`;
}

/** Returns the variables that the test sets for a page. */
function givenTo(page: string): Record<string, string> {
  if (page === 'docs/quickstart.md') return { access_token: variables.access_token ?? '' };
  return PUBLISHED.has(page) ? {} : variables;
}

interface Context {
  readonly shell: Shell;
  /** The output of the previous block. */
  readonly response: string | undefined;
  /** Whether the next block shows the output of this one. */
  readonly isShown: boolean;
}

/** Runs a block. @returns its output, if it has any */
async function runBlock(block: Block, context: Context): Promise<string | undefined> {
  if (block.instruction?.name === 'not run') return undefined;
  if (block.language === 'sh' && block.label === 'Python' && !hasPython) return undefined;
  switch (block.language) {
    case 'sh':
      return runCommands(block, context);
    case 'json':
      return context.response === undefined ? compareEvent(block) : compareJson(block, context);
    case 'http':
      return compareHttp(block, context);
    case 'js':
    case 'py':
    case 'yaml':
      return writeFile(block);
    case 'sql':
      return runSql(block);
    case 'text':
      return undefined;
    default:
      throw new Error(`blocks of the language "${block.language}" are not supported`);
  }
}

async function runCommands(block: Block, { shell, isShown }: Context): Promise<string> {
  const commands = block.code
    .replaceAll('http://127.0.0.1:3000', baseUrl)
    .replaceAll(/'?<(\w+)>(?::<(\w+)>)?'?/g, (_all, first: string, second?: string) =>
      second === undefined ? `"$${first}"` : `"$${first}:$${second}"`,
    );
  if (block.instruction?.name === 'in the background') return shell.run(`{\n${commands}} &\n`);
  const isApproved = block.instruction?.text === 'a user approves';
  // Without the user code of an earlier block, this block shows the code.
  if (isApproved && userCode !== undefined) await approve(userCode);
  const approval = isApproved && userCode === undefined ? approveWhenShown(shell) : undefined;
  if (isApproved) userCode = undefined;
  const [output] = await Promise.all([shell.run(commands), approval]);
  if (block.instruction?.text === 'a user signs in') await signIn(output);
  if (!isShown && /\{\s*"error_code"/.test(output)) throw new Error(`The request was rejected:\n${output}`);
  return output;
}

async function compareJson(block: Block, { shell, response }: Context): Promise<undefined> {
  const real = JSON.parse(response ?? '') as Record<string, unknown>;
  expect(differences(JSON.parse(block.code), real)).toEqual([]);
  if (typeof real.user_code === 'string') userCode = real.user_code;
  for (const [name, value] of Object.entries(real)) {
    if (typeof value !== 'object' && !PUBLISHED.has(block.page)) await shell.set(name, String(value));
    if (/(?:token|secret|device_code|user_code)$/.test(name)) rememberSecret(String(value));
  }
}

function compareHttp(block: Block, { response = '' }: Context): undefined {
  const [shown, real] = [httpMessage(block.code), httpMessage(response)];
  expect(real.status).toBe(shown.status);
  const { 'x-request-id': requestId, ...headers } = shown.headers;
  if (requestId !== undefined) expect(real.headers).toHaveProperty('x-request-id');
  expect(real.headers).toMatchObject(headers);
  if (shown.body !== '') expect(differences(JSON.parse(shown.body), JSON.parse(real.body))).toEqual([]);
}

function httpMessage(text: string): { status: string; headers: Record<string, string>; body: string } {
  const [head = '', body = ''] = text.replaceAll('\r', '').split(/\n\n(.*)/s);
  const [status = '', ...lines] = head.trim().split('\n');
  const headers = lines.map((line) => line.split(/: (.*)/s) as [string, string]);
  return {
    status: status.split(' ')[1] ?? '',
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: body.trim(),
  };
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
(formats as unknown as (instance: Ajv2020) => void)(ajv);

/** Validates an event against the API document. */
function compareEvent(block: Block): undefined {
  const payload = JSON.parse(block.code) as { event?: string };
  if (payload.event === undefined) throw new Error('the JSON is neither a response nor an event');
  if (!ajv.getSchema('api'))
    ajv.addSchema(JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')), 'api');
  const pointer = `webhooks/${payload.event}/post/requestBody/content/application~1json/schema`;
  if (!ajv.validate({ $ref: `api#/${pointer}` }, payload)) throw new Error(ajv.errorsText());
}

function writeFile(block: Block): undefined {
  const [, name] = /^(?:\/\/|#) (\S+\.\w+)\n/.exec(block.code) ?? [];
  if (block.language === 'yaml')
    for (const { errors } of parseAllDocuments(block.code)) expect(errors).toEqual([]);
  if (name === undefined) {
    if (block.language === 'yaml') return;
    throw new Error('the first line must name a file, such as "// receiver.mjs"');
  }
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), block.code);
}

async function runSql(block: Block): Promise<undefined> {
  const { url, release } = await startEmbeddedPostgres({ directory: join(folder, '.data', 'postgres') });
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(block.code);
  } finally {
    await client.end();
    await release();
  }
}

/** Approves the user code when a program shows it. */
async function approveWhenShown(shell: Shell): Promise<void> {
  await approve(
    await eventually('a user code is shown', () => /\b[A-Z]{4}-[A-Z]{4}\b/.exec(shell.shown)?.[0]),
  );
}

async function approve(code: string): Promise<void> {
  rememberSecret(code, code.replace('-', ''));
  await decide({ baseUrl }, login, code);
}

/** Signs in to the merchant on the page of the sign-in link in the output. */
async function signIn(output: string): Promise<void> {
  const [path = '', token = ''] = /\/sign-in\/(\w+)/.exec(output) ?? [];
  rememberSecret(token);
  const user = new Visitor({ baseUrl });
  const { location } = await user.fill(path, GOOD);
  expect(location).toBe(`${path}?done=completed`);
}

/** Gets an access token by the device flow. */
async function accessToken(clientId: string): Promise<string> {
  const send = async (path: string, fields: Record<string, string>): Promise<Record<string, string>> => {
    const body = new URLSearchParams({ client_id: clientId, ...fields });
    const response = await fetch(baseUrl + path, { method: 'POST', body });
    return (await response.json()) as Record<string, string>;
  };
  const { device_code = '', user_code = '' } = await send('/oauth/device/code', {});
  await decide({ baseUrl }, login, user_code);
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  const { access_token = '' } = await send('/oauth/token', { device_code, grant_type });
  rememberSecret(device_code, user_code, access_token);
  return access_token;
}
