import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ApiKeysService } from '../../src/modules/api-keys/index.js';
import { buildGoProgram, hasGo } from '../support/libraries/go-programs.js';
import { hasPythonPackages, PYTHONPATH } from '../support/sdks/python-packages.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { useTestApp } from '../support/test-app.js';

const SUPPORT = join(import.meta.dirname, '..', 'support', 'libraries');
const OAUTH2 = 'v0.38.0';
const SCOPE = 'merchants:read';

const service = useTestApp({ TRUSTED_PROXY_HOPS: '1' });
let names = 0;

/** Has a program get a token for a new API key, and send a request with it. */
async function expectWorks(command: string, leading: readonly string[], env: object): Promise<void> {
  const { clientId } = service.production;
  const name = `program ${(names += 1)}`;
  const issued = await service.app
    .get(ApiKeysService)
    .create(clientId, { name, scopes: [SCOPE, 'request_logs:read'] });
  rememberSecret(issued.token);
  const run = async (key: string): Promise<{ token: Record<string, string>; status: number }> => {
    const parameters = [...leading, service.baseUrl, clientId, key, SCOPE, '/merchants'];
    const options = { env: { ...process.env, ...env } };
    const { stdout } = await promisify(execFile)(command, parameters, options);
    return JSON.parse(stdout) as { token: Record<string, string>; status: number };
  };
  const { token, status } = await run(issued.token);
  rememberSecret(token['access_token'] ?? '');
  expect({ token, status }).toMatchObject({
    token: { token_type: 'Bearer', access_token: expect.stringMatching(/^eyJ/) },
    status: 200,
  });
  await expect(run(`${issued.token.slice(0, -1)}!`)).rejects.toThrow(/invalid_client/);
}

const hasAuthlib = hasPythonPackages('authlib', 'httpx');

describe('The client credentials grant, with an unmodified library', () => {
  (hasAuthlib ? it : it.skip)(
    hasAuthlib ? 'works with Authlib' : 'works with Authlib (skipped: .ci/run installs it)',
    () => expectWorks('python3', [join(SUPPORT, 'oauth-client.py')], { PYTHONPATH }),
    120_000,
  );

  (hasGo ? it : it.skip)(
    hasGo
      ? 'works with golang.org/x/oauth2'
      : 'works with golang.org/x/oauth2 (skipped: go is not installed)',
    async () => {
      await expectWorks(await buildGoProgram('oauth-client', `golang.org/x/oauth2 ${OAUTH2}`), [], {});
    },
    300_000,
  );
});
