import { SERVICE_SCOPES, type ServiceScope } from '../../../src/infrastructure/auth/index.js';
import { ServiceTokensService, type IssuedServiceToken } from '../../../src/modules/service-tokens/index.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { TestApp } from '../test-app.js';

/** Creates a service token, with all scopes by default. */
export async function issueServiceToken(
  service: TestApp,
  scopes: readonly ServiceScope[] = SERVICE_SCOPES,
): Promise<IssuedServiceToken> {
  const issued = await service.app.get(ServiceTokensService).create('Test', scopes);
  rememberSecret(issued.token);
  return issued;
}
