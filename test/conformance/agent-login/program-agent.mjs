/** An agent that is a program: MCP Inspector, which runs once for each request, or `mcp-remote`, which speaks to its client by stdio. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { resultOf, TOOL, travel } from './journey.mjs';

const { ADDRESS, CLIENT_ID, DOCUMENT_URL, NODE, PORT } = process.env;
const [name, mode, program] = process.argv.slice(2);

await travel(await (name === 'inspector' ? inspector() : remote()));

function inspector() {
  const run = async (...request) => {
    const options = [
      '--cli',
      '--server-url',
      ADDRESS,
      '--transport',
      'http',
      '--protocol-era',
      mode,
      '--callback-url',
      `http://127.0.0.1:${PORT}/oauth/callback`,
      '--format',
      'json',
      ...(CLIENT_ID ? ['--client-id', CLIENT_ID] : []),
      ...(DOCUMENT_URL ? ['--client-metadata-url', DOCUMENT_URL] : []),
    ];
    const env = { ...process.env, MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' };
    const { stdout } = await promisify(execFile)(NODE, [program, ...options, ...request], { env });
    return JSON.parse(stdout).result;
  };
  return {
    revision: () => (mode === 'legacy' ? '2025-11-25' : '2026-07-28'),
    tools: async () => (await run('--method', 'tools/list')).tools,
    call: async () => resultOf(await run('--method', 'tools/call', '--tool-name', TOOL)),
  };
}

async function remote() {
  const client = new Client({ name: 'test', version: '1' });
  const options = [
    ...(CLIENT_ID ? ['--static-oauth-client-info', JSON.stringify({ client_id: CLIENT_ID })] : []),
    ...(DOCUMENT_URL ? ['--client-metadata-url', DOCUMENT_URL] : []),
    ...(mode === 'auto' ? ['--protocol', 'auto'] : []),
  ];
  const parameters = { command: NODE, args: [program, ADDRESS, PORT, ...options], env: process.env };
  await client.connect(new StdioClientTransport({ ...parameters, stderr: 'inherit' }));
  return {
    revision: () => (mode === 'legacy' ? '2025-11-25' : '2026-07-28'),
    tools: async () => (await client.listTools()).tools,
    call: async () => resultOf(await client.callTool({ name: TOOL, arguments: {} })),
  };
}
