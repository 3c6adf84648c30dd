/**
 * Lets unmodified clients of MCP log in at the agent connector, once for each way of registration and each revision of the protocol,
 * and prints a Markdown table. Exits with 1 if a journey fails. An argument selects clients by name. Downloads the clients. Needs Python 3.11 and Go 1.25.
 *
 * All requests pass nginx with its default buffers, so it must be installed (Debian's package). The browser adds what other clients send to each authorization
 * request: scopes of other servers, unknown, and repeated and empty parameters.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { AgentTokensService } from '../../../dist/src/modules/agent-authorization/connections/agent-tokens.service.js';
import { RegisteredAgentsService } from '../../../dist/src/modules/agent-authorization/connections/registered-agents.service.js';
import { McpTokensService } from '../../../dist/src/modules/mcp-tokens/index.js';
import { DataSource } from 'typeorm';
import {
  RECEIVER_CERTIFICATES,
  RECEIVER_KEY,
  TEST_AUTHORITY,
} from '../../support/webhooks/receiver-certificates.ts';
import { basic, startService } from '../service.mjs';

const execute = promisify(execFile);
const HERE = import.meta.dirname;
const INSTALLED = resolve(HERE, '../../../.artefacts/agents');
/** Milliseconds. */
const TOKEN_LIFETIME = 12_000;
const TIMEOUT = 120_000;
const CONCURRENT = 3;
const KINDS = ['dynamic', 'document', 'registered'];
const BOTH = ['auto', 'legacy'];
/** The redirect addresses of all clients, whose ports differ. */
const REDIRECT_URIS = ['127.0.0.1', 'localhost'].flatMap((host) =>
  ['/callback', '/oauth/callback'].map((path) => `http://${host}${path}`),
);

const CLIENTS = [
  typescript('@modelcontextprotocol/client', '2', BOTH),
  typescript('@modelcontextprotocol/sdk', '1', ['legacy']),
  python('mcp', '2.3.0', '2', BOTH),
  python('mcp', '1.30.0', '1', ['legacy']),
  python('fastmcp', '4.2.3', 'fastmcp', BOTH),
  {
    name: 'go-sdk 1.8.0',
    modes: BOTH,
    install: installGo,
    command: (mode) => [join(INSTALLED, 'go', 'agent'), mode],
  },
  program('@modelcontextprotocol/inspector', '2.12.0', 'inspector', 'clients/launcher/build/index.js'),
  program('mcp-remote', '0.15.1', 'remote', 'dist/proxy.js'),
];

const documents = await publishDocuments();
const url = `http://127.0.0.1:${await freePort()}`;
const service = await startService({
  WEBHOOK_TARGETS: 'any',
  WEBHOOK_EXTRA_CA: TEST_AUTHORITY,
  CONNECTOR_URL: url,
  TRUSTED_PROXY_HOPS: '1',
});
const { app, directory } = service;
const proxy = await startProxy();
const { development: credentials } = service.organization;
const database = app.get(DataSource);
const visits = mkdtempSync(join(directory, 'visits-'));
try {
  shortenTokens();
  const registeredId = await register();
  const [selected = ''] = process.argv.slice(2);
  const clients = CLIENTS.filter(({ name }) => name.includes(selected));
  const node = await nodePath();
  for (const client of clients) await client.install?.();
  const journeys = clients.flatMap((client) =>
    client.modes.flatMap((mode) => KINDS.map((kind) => ({ client, mode, kind }))),
  );
  const results = new Map();
  const waiting = journeys.entries();
  const work = async () => {
    for (const [index, journey] of waiting)
      results.set(journey, await travel({ ...journey, index, node, registeredId }));
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  print(journeys.map((journey) => ({ ...journey, result: results.get(journey) })));
} finally {
  documents.server.close();
  documents.server.closeAllConnections();
  proxy.kill();
  await service.close();
}

async function freePort() {
  const server = createTcpServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Starts nginx with the sample configuration's headers and the default buffers, in front of the service. */
async function startProxy() {
  const file = join(directory, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${directory}/nginx.pid; error_log stderr; events {}
     http {
       access_log off; client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
       fastcgi_temp_path ${directory}/fastcgi; uwsgi_temp_path ${directory}/uwsgi; scgi_temp_path ${directory}/scgi;
       server {
         listen ${new URL(url).host};
         location / {
           proxy_pass ${service.url};
           proxy_http_version 1.1;
           proxy_set_header Connection "";
           proxy_set_header Host $host:$server_port;
           proxy_set_header X-Forwarded-For $remote_addr;
           proxy_set_header X-Forwarded-Proto $scheme;
         }
       }
     }`,
  );
  const nginx = spawn('nginx', ['-c', file], {
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: 'inherit',
  });
  const started = async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok;
  for (let attempt = 0; !(await started()); attempt += 1) {
    if (attempt === 50) throw new Error('nginx did not start');
    await sleep(100);
  }
  return nginx;
}

function typescript(packageName, major, modes) {
  const { version } = JSON.parse(readFileSync(`node_modules/${packageName}/package.json`, 'utf8'));
  return {
    name: `${packageName} ${version}`,
    modes,
    command: (mode) => [process.execPath, join(HERE, 'typescript-agent.mjs'), major, mode],
  };
}

function python(packageName, version, kind, modes) {
  const folder = join(INSTALLED, `${packageName}-${version}`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', folder];
  return {
    name: `${packageName} ${version} (Python)`,
    modes,
    install: async () => existsSync(folder) || execute('python3', [...pip, `${packageName}==${version}`]),
    command: (mode) => ['python3', join(HERE, 'agent.py'), kind, mode],
    environment: { PYTHONPATH: folder },
  };
}

function program(packageName, version, kind, file) {
  const folder = join(INSTALLED, `${kind}-${version}`);
  const path = join(folder, 'node_modules', packageName, file);
  const npm = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts'];
  return {
    name: `${packageName} ${version}`,
    modes: BOTH,
    install: async () => {
      mkdirSync(folder, { recursive: true });
      if (!existsSync(path)) await execute('npm', [...npm, `${packageName}@${version}`]);
    },
    command: (mode) => [process.execPath, join(HERE, 'program-agent.mjs'), kind, mode, path],
  };
}

async function installGo() {
  const cwd = join(INSTALLED, 'go');
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, 'go.mod'), 'module agent\n\ngo 1.25.0\n');
  const source = join(cwd, 'agent.go');
  writeFileSync(source, readFileSync(join(HERE, 'agent.go')));
  await execute('go', ['get', 'github.com/modelcontextprotocol/go-sdk@v1.8.0'], { cwd });
  await execute('go', ['build', '-mod=mod', '-o', 'agent', '.'], { cwd });
}

/** The Inspector requires Node.js 22.19. */
async function nodePath() {
  if (process.versions.node.split('.')[0] >= 24) return process.execPath;
  const command = ['exec', '--yes', '--package=node@24', '--', 'node', '-p', 'process.execPath'];
  return (await execute('npm', command)).stdout.trim();
}

/** Serves a metadata document at every path. */
async function publishDocuments() {
  const server = createServer(
    { key: RECEIVER_KEY, cert: RECEIVER_CERTIFICATES.trusted },
    (request, response) => {
      const document = {
        client_id: `https://localhost:${server.address().port}${request.url}`,
        client_name: 'Agent with a document',
        redirect_uris: REDIRECT_URIS,
        token_endpoint_auth_method: 'none',
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    },
  );
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { server, url: `https://localhost:${server.address().port}/client.json` };
}

/** Makes access tokens expire soon, so that clients refresh them. */
function shortenTokens() {
  const tokens = app.get(AgentTokensService, { strict: false });
  const mcpTokens = app.get(McpTokensService, { strict: false });
  const issue = tokens.issue.bind(tokens);
  tokens.issue = (...parameters) => {
    const { response, stored } = issue(...parameters);
    return { response: { ...response, expires_in: TOKEN_LIFETIME / 1000 }, stored };
  };
  const rowOf = mcpTokens.agentTokenRow.bind(mcpTokens);
  mcpTokens.agentTokenRow = (token, request) =>
    rowOf(token, { ...request, expiresAt: new Date(request.createdAt.getTime() + TOKEN_LIFETIME) });
}

/** Registers an agent in advance. @returns its `client_id` */
async function register() {
  const [user] = await database.query('SELECT organization_id, email, name FROM dashboard_user');
  const actor = {
    organizationId: user.organization_id,
    email: user.email,
    name: user.name,
    origin: { ip: '127.0.0.1', userAgent: 'test' },
    // A session would have to be stored.
    credential: { kind: 'token', clientId: credentials.clientId, environment: 'development' },
  };
  const request = { environment: 'development', name: 'Registered agent', redirect_uris: REDIRECT_URIS };
  await app.get(RegisteredAgentsService, { strict: false }).register(actor, request);
  const [{ id }] = await database.query(`SELECT id FROM registered_agent WHERE kind = 'registered'`);
  return id;
}

/** Lets a user connect the agent, use it, and disconnect it. @returns the revision of the protocol, or the problem */
async function travel({ client, mode, kind, index, node, registeredId }) {
  const user = `user-${index}`;
  const home = mkdtempSync(join(directory, 'home-'));
  const [file, ...parameters] = client.command(mode);
  const child = spawn(file, parameters, {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      ...client.environment,
      ADDRESS: `${url}/mcp/${credentials.clientId}`,
      BROWSER: join(HERE, 'browser.mjs'),
      LOGIN_USER: user,
      VISITS: visits,
      NODE: node,
      PORT: String(21_000 + index),
      TOKEN_LIFETIME: String(TOKEN_LIFETIME),
      ...(kind === 'document' ? { DOCUMENT_URL: documents.url } : {}),
      ...(kind === 'registered' ? { CLIENT_ID: registeredId } : {}),
    },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => {
    // Clients may print other lines, and pass on those of the browser.
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('The client ended');
      if (value.startsWith('{')) return JSON.parse(value);
    }
  };
  try {
    const { revision, tools, environment } = await next();
    expectEqual('the first result', [tools > 5, environment], [true, 'development']);
    expectEqual('the result after the token expired', await next(), { environment: 'development' });
    const connections = await connectionsOf(user);
    expectEqual('the number of connections', connections.length, 1);
    const [{ id, agent_id: agentId, refreshed }] = connections;
    expectEqual('that the tokens were refreshed', refreshed > 0, true);
    const expectedId = { dynamic: agentId, document: documents.url, registered: registeredId }[kind];
    expectEqual('the agent', agentId, expectedId);
    writeFileSync(join(visits, `${user}-declines`), '');
    const logins = readVisits(user).length;
    const disconnected = await fetch(`${url}/agent-connections/${id}`, {
      method: 'DELETE',
      headers: { authorization: basic(credentials) },
    });
    expectEqual('the response to the disconnection', disconnected.ok, true);
    child.stdin.write('\n');
    const { error } = await next();
    expectEqual('that the disconnected agent fails', error !== undefined, true);
    return { revision, asksAgain: readVisits(user).length > logins };
  } catch (problem) {
    return { problem: `${problem.message}\n${errors}` };
  } finally {
    clearTimeout(timer);
    child.kill();
  }
}

/** Returns the connections of a user, and how often their tokens were refreshed. */
function connectionsOf(user) {
  return database.query(
    `SELECT c.id, c.agent_id, count(t.rotated_at)::int AS refreshed FROM agent_connection c
     LEFT JOIN agent_refresh_token t ON t.connection_id = c.id WHERE external_user_id = $1
     GROUP BY c.id, c.agent_id`,
    [user],
  );
}

/** Returns the addresses that the user's browser opened, and the errors that it got there. */
function readVisits(user) {
  const file = join(visits, user);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

function expectEqual(title, value, expected) {
  const [found, wanted] = [value, expected].map((each) => JSON.stringify(each));
  if (found !== wanted) throw new Error(`Expected ${title} to be ${wanted}, not ${found}`);
}

function print(journeys) {
  console.log('| client | revision | registration | result | after disconnection |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const { client, mode, kind, result } of journeys) {
    const { revision = mode, problem = '', asksAgain } = result;
    const [outcome = 'passed'] = problem.split('\n').filter(Boolean);
    const then = asksAgain ? 'asks the user again' : 'fails';
    console.log(`| ${client.name} | ${revision} | ${kind} | ${outcome} | ${then} |`);
  }
  for (const { client, mode, kind, result } of journeys) {
    if (!result.problem) continue;
    process.exitCode = 1;
    console.error(`\n${client.name}, ${mode}, ${kind}: ${result.problem}`);
  }
}
