import { SCOPES, type Scope } from '../../infrastructure/auth/index.js';
import { MAX_TOKEN_NAME_LENGTH } from '../../infrastructure/issued-tokens/index.js';
import { ArrayField, IntegerField, MESSAGES, TextField } from '../../infrastructure/validation/index.js';
import { normalRange } from './ip-ranges.js';
import { MAX_CLAIM_LENGTH, MAX_CLAIMS, type KeyTrust } from './key-trust.js';

export const MAX_IP_RANGES = 20;
export const MAX_DAYS = 3_650;
/** The maximum number of scopes of a key, about the number of scopes that exist. */
const MAX_SCOPES = 100;

export const notARange = (range: string): string =>
  `${range} is neither an IP address nor a range, such as 203.0.113.0/24.`;

export class UpdateKeyRequest {
  @TextField({ in: 'form', max: MAX_TOKEN_NAME_LENGTH, isTrimmed: true })
  name!: string;

  @ArrayField({
    in: 'form',
    max: MAX_SCOPES,
    items: { type: 'string' },
    validateItem: (item, field) =>
      SCOPES.includes(item as Scope) ? undefined : MESSAGES.selected(field, SCOPES),
  })
  scopes!: Scope[];

  @ArrayField({
    in: 'form',
    required: false,
    max: MAX_IP_RANGES,
    items: { type: 'string' },
    validateItem: (item, name) =>
      typeof item === 'string' && normalRange(item) ? undefined : notARange(name),
  })
  ip_ranges?: string[];
}

export class CreateKeyRequest extends UpdateKeyRequest {
  /** Without it, the key does not expire. */
  @IntegerField({ in: 'form', required: false, min: 1, max: MAX_DAYS })
  expires_in_days?: number;
}

/** Returns the trust that a form describes. Its claims are one per line: `name=value`. */
export function trustIn({ issuer, audience, subject, claims = [] }: TrustRequest): KeyTrust {
  const required = claims.map((line) => {
    const end = line.indexOf('=');
    return [line.slice(0, end), line.slice(end + 1)] as const;
  });
  return { issuer, audience: audience ?? null, subject, claims: Object.fromEntries(required) };
}

/** Returns the claims as a form has them. */
export function linesOf({ claims }: Pick<KeyTrust, 'claims'>): string[] {
  return Object.entries(claims).map(([name, value]) => `${name}=${value}`);
}

/** A form that trusts a workload, or changes the trust. */
export class TrustRequest extends UpdateKeyRequest {
  @TextField({ in: 'form', max: MAX_CLAIM_LENGTH, isTrimmed: true, format: 'uri' })
  issuer!: string;

  /** Without it, the address of the token endpoint. */
  @TextField({ in: 'form', required: false, max: MAX_CLAIM_LENGTH, isTrimmed: true })
  audience?: string;

  @TextField({ in: 'form', max: MAX_CLAIM_LENGTH, isTrimmed: true })
  subject!: string;

  @ArrayField({
    in: 'form',
    required: false,
    max: MAX_CLAIMS,
    isByLine: true,
    items: { type: 'string' },
    validateItem: (item, name) =>
      typeof item === 'string' && item.length <= MAX_CLAIM_LENGTH && /^[^=]+=./.test(item)
        ? undefined
        : `${name} must be the name of a claim, “=” and its value, with at most ${MAX_CLAIM_LENGTH} characters.`,
  })
  claims?: string[];
}

/** Characters: more than the tokens of any known issuer have. */
const MAX_TOKEN_LENGTH = 10_000;

export class TryTokenRequest {
  @TextField({ in: 'form', max: MAX_TOKEN_LENGTH, isTrimmed: true })
  token!: string;
}
