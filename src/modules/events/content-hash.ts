import { sha256 } from '../../infrastructure/crypto/index.js';
import type { PublishEventRequest } from './events.dto.js';

/** Returns a hash of the request without its idempotency key. It does not depend on the order of the fields. */
export function contentHash({ idempotency_key: _key, ...content }: PublishEventRequest): Buffer {
  return sha256(JSON.stringify(content, sortedMembers));
}

function sortedMembers(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
