/**
 * Runs the official conformance suite of the Model Context Protocol against the agent connector, once for each revision, and
 * prints a Markdown table of the scenarios. Exits with 1 if a check fails that is about a feature of the connector. Keeps the
 * results of the suite in a folder, whose name it prints.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import { join } from 'node:path';
import { ToolCalls } from '../../../dist/src/modules/agent-connector/tools/tool-calls.js';
import { Tools } from '../../../dist/src/modules/agent-connector/tools/tool-registry.js';
import { basic, startService } from '../service.mjs';
import { addFixtures } from './fixtures.mjs';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
/** The suite requires Node.js 22. */
const NODE =
  process.versions.node.split('.')[0] >= 22 ? [] : [`--package=node-${process.platform}-${process.arch}@22`];
const REVISIONS = ['2025-11-25', '2026-07-28'];
/** Checks that fail because they are about a feature that the connector does not offer: pattern of `scenario/check`, feature. */
const NOT_OFFERED = [
  [/^(?:prompts|input-required-result-non-tool-request)/, 'prompts'],
  [/^(?:resources|sep-2164)/, 'resources'],
  [/^caching\/sep-2549-(?:prompts|resources)/, 'prompts and resources (`tools/list` passes)'],
  [/^completion/, 'completions'],
  [/^(?:logging|tools-call-with-logging)/, 'logging'],
  [/^tools-call-with-progress/, 'progress notifications'],
  [/^tools-call-sampling/, 'sampling'],
  [/^(?:elicitation|tools-call-elicitation)/, 'elicitation'],
  [/^input-required-result/, 'tools that ask the client for input'],
  [/^server-sse/, 'sessions'],
  [/^tasks/, 'tasks, an extension'],
  [/^http-custom-header-server-validation/, 'tools with `x-mcp-header`'],
];

const proxy = createServer().listen(0, '127.0.0.1');
await once(proxy, 'listening');
const { port } = proxy.address();
const service = await startService({
  MCP_TOOL_CALLS_PER_MINUTE: '100000',
  // As in production, no other origins are allowed.
  CORS_ORIGINS: `http://localhost:${port},http://127.0.0.1:${port}`,
});
const { app, directory, organization } = service;
try {
  addFixtures(app.get(Tools, { strict: false }), app.get(ToolCalls, { strict: false }));
  const runs = [];
  for (const revision of REVISIONS) {
    addToken(await createToken(organization.development));
    runs.push(await runSuite(revision));
  }
  if (!print(runs)) process.exitCode = 1;
} finally {
  proxy.close();
  await service.close();
}

async function createToken(credentials) {
  const response = await fetch(`${service.url}/mcp/tokens/create`, {
    method: 'POST',
    headers: { authorization: basic(credentials), 'content-type': 'application/json' },
    body: JSON.stringify({ external_user_id: 'user-1', phone_number: '+14155550123' }),
  });
  return (await response.json()).token;
}

/** Makes the proxy add the token, which the suite cannot send. */
function addToken(token) {
  proxy.removeAllListeners('request').on('request', async (request, response) => {
    const { method, url: path, headers } = request;
    const to = { host: '127.0.0.1', port: new URL(service.url).port, method, path };
    const forwarded = sendRequest({ ...to, headers: { ...headers, authorization: `Bearer ${token}` } });
    forwarded.on('response', (result) => {
      response.writeHead(result.statusCode, result.headers);
      result.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  });
}

/** @returns the checks of each scenario */
async function runSuite(revision) {
  const output = join(directory, revision);
  const suite = ['conformance', 'server', '--url', `http://localhost:${port}/mcp`];
  const child = spawn(
    'npx',
    [
      '--yes',
      ...NODE,
      `--package=${SUITE}`,
      '--',
      ...suite,
      '--requirements',
      revision,
      '--output-dir',
      output,
    ],
    { env: { ...process.env, npm_config_loglevel: 'error' }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  await once(child, 'exit');
  const scenarios = readdirSync(output).map((name) => [
    /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? name,
    JSON.parse(readFileSync(join(output, name, 'checks.json'), 'utf8')),
  ]);
  return new Map(scenarios);
}

/** @returns whether every check passed that is about a feature of the connector */
function print(runs) {
  const names = [...new Set(runs.flatMap((run) => [...run.keys()]))].toSorted();
  console.log(`| scenario | ${REVISIONS.join(' | ')} | reason if not passed |`);
  console.log(`| --- | ${REVISIONS.map(() => '---').join(' | ')} | --- |`);
  let isGreen = true;
  for (const name of names) {
    const problems = runs
      .flatMap((run) => run.get(name) ?? [])
      .filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    const reasons = problems.map(({ id, errorMessage, details }) => {
      // In every scenario, the messages of the connector must be valid.
      const isExcused = !id.startsWith('wire-schema');
      const known = NOT_OFFERED.find(([pattern]) => isExcused && pattern.test(`${name}/${id}`))?.[1];
      if (known === undefined) isGreen = false;
      return known ?? `**${id}**: ${errorMessage ?? details?.message}`;
    });
    const outcomes = runs.map((run) => outcomeOf(run.get(name)));
    console.log(`| \`${name}\` | ${outcomes.join(' | ')} | ${[...new Set(reasons)].join('; ')} |`);
  }
  console.log(`\nThe results of the suite are in ${directory}.`);
  return isGreen;
}

function outcomeOf(checks) {
  if (checks === undefined) return '–';
  const count = (status) => checks.filter((check) => check.status === status).length;
  const [passed, failed, warnings] = ['SUCCESS', 'FAILURE', 'WARNING'].map(count);
  if (failed > 0) return `${passed} of ${passed + failed}`;
  if (warnings > 0) return 'warning';
  return passed > 0 ? 'passed' : 'skipped';
}
