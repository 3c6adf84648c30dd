/** An agent with one of the two TypeScript clients, whose OAuth provider keeps everything in memory. */
import { execFileSync } from 'node:child_process';
import * as current from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { resultOf, TOOL, travel } from './journey.mjs';

const { ADDRESS, BROWSER, CLIENT_ID, DOCUMENT_URL } = process.env;
const [version, mode] = process.argv.slice(2);
const REDIRECT_URI = 'http://127.0.0.1:7777/callback';
const saved = {
  client: CLIENT_ID === undefined ? undefined : { client_id: CLIENT_ID },
};
let returned;

const authProvider = {
  redirectUrl: REDIRECT_URI,
  clientMetadataUrl: DOCUMENT_URL,
  clientMetadata: {
    client_name: `TypeScript client ${version}`,
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'none',
    scope: 'accounts:read sign_in_links:write offline_access',
  },
  clientInformation: () => saved.client,
  saveClientInformation: (client) => (saved.client = client),
  tokens: () => saved.tokens,
  saveTokens: (tokens) => (saved.tokens = tokens),
  codeVerifier: () => saved.verifier,
  saveCodeVerifier: (verifier) => (saved.verifier = verifier),
  invalidateCredentials: (what) => what === 'tokens' && delete saved.tokens,
  redirectToAuthorization: (url) => {
    returned = new URL(execFileSync(BROWSER, [url.href], { encoding: 'utf8' })).searchParams;
  },
};

const Transport = version === '1' ? OldTransport : current.StreamableHTTPClientTransport;
const create = () => {
  const info = { name: 'test', version: '1' };
  const transport = new Transport(new URL(ADDRESS), { authProvider });
  if (version === '1') return { client: new OldClient(info), transport };
  return { client: new current.Client(info, { versionNegotiation: { mode } }), transport };
};

const first = create();
await first.client.connect(first.transport).then(
  () => Promise.reject(new Error('The agent was not asked to log in')),
  () => undefined,
);
await first.transport.finishAuth(version === '1' ? returned.get('code') : returned);
const { client, transport } = create();
await client.connect(transport);
await travel({
  revision: () => transport.protocolVersion ?? client.getNegotiatedProtocolVersion(),
  tools: async () => (await client.listTools()).tools,
  call: async () => resultOf(await client.callTool({ name: TOOL, arguments: {} })),
});
