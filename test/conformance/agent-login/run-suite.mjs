/**
 * Runs the scenarios for authorization servers of the official conformance suite against the issuer of an API client, once for each
 * revision, and prints the checks as a Markdown table. Exits with 1 if a check fails. Downloads the suite, and Node.js if necessary.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startService } from '../service.mjs';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const REVISIONS = ['2025-11-25', '2026-07-28'];
const PORT = 21_900;

const service = await startService();
try {
  const { clientId } = service.organization.development;
  const issuer = `${service.url}/connections/${clientId}`;
  const registration = await fetch(`${issuer}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${PORT}/callback`] }),
  });
  const { client_id: agentId } = await registration.json();
  console.log('| scenario | check | revision | result |\n| --- | --- | --- | --- |');
  for (const revision of REVISIONS) {
    const output = mkdtempSync(join(service.directory, 'results-'));
    const options = [
      'authorization',
      '--url',
      issuer,
      '--client-id',
      agentId,
      '--port',
      String(PORT),
      '--resource',
      `${service.url}/mcp/${clientId}`,
      '--spec-version',
      revision,
      '--output-dir',
      output,
    ];
    await runSuite(options, { LOGIN_USER: `user-${revision}`, VISITS: output });
    print(revision, output);
  }
} finally {
  await service.close();
}

/** Runs the suite, and opens the address that it prints in the user's browser. */
async function runSuite(options, environment) {
  const packages = [`--package=${SUITE}`, '--package=node@24'];
  const child = spawn('npx', ['--yes', ...packages, '--', 'conformance', ...options], {
    env: { ...process.env, npm_config_loglevel: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const browser = join(import.meta.dirname, 'browser.mjs');
  const env = { ...process.env, ...environment, PORT: String(PORT) };
  for await (const line of createInterface(child.stdout))
    if (/^http\S+\/authorize\?/.test(line)) execFile(browser, [line], { env });
  if (child.exitCode === null) await once(child, 'exit');
}

function print(revision, output) {
  const folders = readdirSync(output, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) {
    const checks = JSON.parse(readFileSync(join(output, name, 'checks.json'), 'utf8'));
    for (const { id, status, errorMessage = '' } of checks) {
      if (status === 'FAILURE' || status === 'WARNING') process.exitCode = 1;
      const scenario = name.replace(/-\d{4}-\d\d-\d\dT.*/, '');
      console.log(`| ${scenario} | ${id} | ${revision} | ${status} ${errorMessage} |`);
    }
  }
}
