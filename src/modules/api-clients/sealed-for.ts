import type { ApiClient } from './api-client.entity.js';
import type { ApiSecret } from './api-secret.entity.js';

/** All that the seal of a secret is bound to: a value copied to another row does not open there. */
export function sealedFor({ id, version }: Pick<ApiSecret, 'id' | 'version'>, client: ApiClient): string[] {
  return ['api_secret', client.id, client.environment, id, String(version)];
}
