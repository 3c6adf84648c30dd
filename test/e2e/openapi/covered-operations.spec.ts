import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allPages, committed } from '../../support/documents/documents.js';

const CLI = join(import.meta.dirname, '..', '..', '..', 'clients', 'cli', 'src');

const OAUTH = 'libraries for OAuth send it, not people';
const PLATFORM = 'the services of the platform send it, not partners';
const IN_PATH = 'another operation does the same for every identifier';

/** Operations for which `mcs` has no command, and why. `mcs api` sends them. SDKs have all: test/programs/sdk-cases.spec.ts. */
const WITHOUT_COMMAND: Readonly<Record<string, string>> = {
  submitJobApplication: 'the page of open positions sends it',
  identifyDetectedAccounts: 'it must be enabled for the client, and is for programs that read messages',
  createDetection: PLATFORM,
  publishEvent: PLATFORM,
  publishEvents: PLATFORM,
  getEvent: PLATFORM,
  setMerchantStatus: PLATFORM,
  listMerchantStatuses: PLATFORM,
  eraseExternalUser: IN_PATH,
  getUserErasure: IN_PATH,
  getProtectedResourceMetadata: OAUTH,
  getAgentAuthorizationServerMetadata: OAUTH,
  exchangeForAgentTokens: OAUTH,
  revokeAgentToken: OAUTH,
  registerAgent: OAUTH,
  getAuthorizationServerMetadata: OAUTH,
  getJsonWebKeySet: OAUTH,
};

/** Functions of the SDK that call operations. */
const CALLED_BY: Readonly<Record<string, string>> = { readWebhookEvents: 'followEvents(' };

const { paths } = JSON.parse(committed('openapi.json')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
};
const OPERATIONS = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { operationId }]) =>
    operationId === undefined ? [] : [{ operationId, method: method.toUpperCase(), path }],
  ),
);

it('mcs has a command for each operation of the API document, or there is a reason', () => {
  const files = readdirSync(CLI, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.spec|\.d)\.ts$/.test(file),
  );
  const sources = files.map((file) => readFileSync(join(CLI, file), 'utf8')).join('\n');
  const without = OPERATIONS.filter(
    ({ operationId }) => !sources.includes(CALLED_BY[operationId] ?? `.${operationId}(`),
  );
  expect(without.map(({ operationId }) => operationId).toSorted()).toEqual(
    Object.keys(WITHOUT_COMMAND).toSorted(),
  );
});

it('a page names each operation of the API document', () => {
  const pages = allPages().filter((page) => /^docs\/[\w-]+\.md$/.test(page));
  const text = pages.map((page) => committed(page)).join('\n');
  const without = OPERATIONS.filter(({ path }) => {
    const [start = '', ...rest] = path.split(/\{\w+\}/);
    const segments = [start, ...rest].map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`));
    return !new RegExp(`${segments.join('[^/\\s`]+')}(?![\\w/-])`).test(text);
  });
  expect(without.map(({ operationId }) => operationId)).toEqual([]);
});
