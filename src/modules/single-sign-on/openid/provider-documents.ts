import { isObject } from 'class-validator';
import { parsedJson } from '../../../infrastructure/config/index.js';

/** Members of a discovery document that the service or `openid-client` uses. */
const METADATA = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
  'scopes_supported',
  'token_endpoint_auth_methods_supported',
  'code_challenge_methods_supported',
  'id_token_signing_alg_values_supported',
  'userinfo_signing_alg_values_supported',
  'authorization_response_iss_parameter_supported',
];
/** Members of a public key (RFC 7517 and RFC 7518). */
const KEY = ['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'x', 'y', 'n', 'e', 'pub'];
/** Values of a list, and keys of a set. Providers list about 20 values, and publish fewer than 10 keys. */
const MAX_VALUES = 200;

/**
 * Returns a discovery document or a set of keys with what is used of it. Both are kept in memory, where other content, such as small
 * objects, can take 20 times its length. A text that is no JSON object stays as it is.
 */
export function usedPart(text: string): string {
  const document = parsedJson(text);
  if (!isObject<{ readonly keys?: unknown }>(document)) return text;
  const { keys } = document;
  const used = picked(document, METADATA);
  if (!Array.isArray(keys)) return JSON.stringify(used);
  return JSON.stringify({ ...used, keys: keys.slice(0, MAX_VALUES).map((key) => picked(key, KEY)) });
}

function picked(value: unknown, members: readonly string[]): object {
  const source = Object(value) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    members.filter((name) => Object.hasOwn(source, name)).map((name) => [name, flat(source[name])]),
  );
}

/** Returns a value without objects in it. The library refuses a value of the wrong type, and treats one without content as missing. */
function flat(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_VALUES).filter((each) => typeof each === 'string');
  return typeof value === 'object' ? null : value;
}
