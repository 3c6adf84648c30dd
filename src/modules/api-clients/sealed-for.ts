import type { ApiClient } from './api-client.entity.js';
import type { ApiSecret } from './api-secret.entity.js';

/** Returns the owner that a secret is encrypted for (`Sealer`), so that it cannot be decrypted in another row. */
export function sealedFor({ id, version }: Pick<ApiSecret, 'id' | 'version'>, client: ApiClient): string[] {
  return ['api_secret', client.id, client.environment, id, String(version)];
}
