import { randomUUID } from 'node:crypto';
import { CompactEncrypt, importJWK, type JWK } from 'jose';
import { z } from 'zod';
import { ServiceClient, type ServiceRequest } from '../../infrastructure/http-client/index.js';
import { MINUTE, SECOND, type Clock } from '../../infrastructure/time/index.js';
import { parsedJson } from '../../infrastructure/config/index.js';
import { standardSignature } from '../../infrastructure/crypto/index.js';
import { signingKeyOf, type GatewayAddress } from './merchant-gateway.configuration.js';

/** Milliseconds for a request about a sign-in. */
const DEADLINE = 30 * SECOND;
/** Milliseconds for the keys. Agents and pages wait for them. */
const KEYS_DEADLINE = 5 * SECOND;
/** Milliseconds. A key that the gateway replaces must work at least this long. */
const KEYS_FRESH_FOR = MINUTE;

const KEY_SET = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });
const TEXT = z.string().min(1).max(500);
const RESPONSE = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.enum(['succeeded', 'refused', 'failed']) }),
  z.object({
    outcome: z.literal('code_required'),
    challenge: z.object({ id: TEXT.regex(/^\S+$/), hint: TEXT.regex(/^\P{Cc}+$/u).nullish() }),
  }),
]);
const UNKNOWN_KEY = z.object({ error: z.literal('unknown_key') });

export type GatewayResponse = z.output<typeof RESPONSE>;

/** Statuses that mean that something is or will be deleted (RFC 9110, section 9.3.5), or does not exist. The protocol requires 204 and 404. */
const DELETED: ReadonlySet<number> = new Set([200, 202, 204, 404, 410]);

/** The gateway did not do what the protocol says. The message contains nothing that a user has entered. */
export class GatewayError extends Error {}

type Encrypt = (value: object) => Promise<string>;

/** Speaks the protocol of docs/merchant-gateway.md. */
export class GatewayClient {
  /** Milliseconds. A property so that tests can shorten it. */
  readonly deadline: number = DEADLINE;
  private readonly http: ServiceClient;
  private readonly key: Buffer;
  private current: { readonly encrypt: Encrypt; readonly fetchedAt: number } | undefined;
  private fetching: Promise<Encrypt> | undefined;

  constructor(
    { url, secret }: GatewayAddress,
    private readonly clock: Clock,
  ) {
    this.http = new ServiceClient(url);
    this.key = signingKeyOf(secret);
  }

  /** Whether the gateway published its keys within the last minute. */
  get hasFreshKey(): boolean {
    return this.clock.monotonic() - (this.current?.fetchedAt ?? -Infinity) < KEYS_FRESH_FOR;
  }

  /**
   * Returns a function that encrypts for the gateway. Concurrent calls share a request.
   *
   * @throws Error if the gateway has no usable key
   */
  async encryption({ isFresh = false } = {}): Promise<Encrypt> {
    if (this.current && !isFresh && this.hasFreshKey) return this.current.encrypt;
    this.fetching ??= this.fetchKey().finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  /**
   * Posts a message whose `secret` is encrypted as the field `field`. If the gateway no longer knows the key, fetches the new key and
   * sends the message again, once.
   */
  async post(
    path: string,
    message: Readonly<Record<string, unknown>>,
    field: string,
    secret: object,
  ): Promise<GatewayResponse> {
    const attempt = async (isFresh: boolean): Promise<GatewayResponse | undefined> => {
      const encrypt = await this.encryption({ isFresh });
      const body = { ...message, [field]: await encrypt(secret) };
      const { statusCode, json } = await this.send('POST', path, randomUUID(), body);
      if (statusCode === 400 && UNKNOWN_KEY.safeParse(json).success) return undefined;
      if (statusCode !== 200) throw new GatewayError(`The gateway responded with ${statusCode}.`);
      return valid(RESPONSE, json);
    };
    const response = (await attempt(false)) ?? (await attempt(true));
    if (!response) throw new GatewayError('The gateway does not know the key that it publishes.');
    return response;
  }

  /** Undoes a sign-in. The gateway may not know it. */
  async undo(signInId: string): Promise<void> {
    // The signature covers the ID of the message, but not the path.
    const { statusCode } = await this.send('DELETE', `/sign-ins/${signInId}`, `undo_${signInId}`);
    if (!DELETED.has(statusCode)) throw new GatewayError(`The gateway responded with ${statusCode}.`);
  }

  async close(): Promise<void> {
    await this.http.close();
  }

  private async fetchKey(): Promise<Encrypt> {
    const { statusCode, json } = await this.send('GET', '/keys', `keys_${randomUUID()}`);
    if (statusCode !== 200) throw new GatewayError(`The gateway responded with ${statusCode}.`);
    const jwk = (valid(KEY_SET, json).keys as JWK[]).find(isUsable);
    if (!jwk) throw new GatewayError('The gateway has no RSA key for encryption.');
    const encrypt = await encryptionWith(jwk);
    this.current = { encrypt, fetchedAt: this.clock.monotonic() };
    return encrypt;
  }

  private async send(
    method: ServiceRequest['method'],
    path: string,
    id: string,
    message?: object,
  ): Promise<{ statusCode: number; json: unknown }> {
    const body = Buffer.from(message === undefined ? '' : JSON.stringify(message));
    const timestampSeconds = Math.floor(this.clock.milliseconds() / SECOND);
    const headers = {
      accept: 'application/json',
      // Some frameworks refuse a type without a body.
      ...(message !== undefined && { 'content-type': 'application/json' }),
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': standardSignature({ id, timestampSeconds, body }, this.key),
    };
    const deadline = method === 'GET' ? Math.min(KEYS_DEADLINE, this.deadline) : this.deadline;
    const { statusCode, text } = await this.http.send({ method, path, headers, body, deadline });
    return { statusCode, json: parsedJson(text) };
  }
}

function isUsable({ kty, use = 'enc', alg = 'RSA-OAEP-256', d }: JWK): boolean {
  return kty === 'RSA' && use === 'enc' && alg === 'RSA-OAEP-256' && d === undefined;
}

/** @throws Error if the key is invalid or shorter than 2048 bits */
async function encryptionWith(jwk: JWK): Promise<Encrypt> {
  const key = await importJWK(jwk, 'RSA-OAEP-256');
  const { kid } = jwk;
  const header = { alg: 'RSA-OAEP-256', enc: 'A256GCM', ...(kid !== undefined && { kid }) };
  const encrypt: Encrypt = async (value) => {
    const plaintext = Buffer.from(JSON.stringify(value));
    try {
      return await new CompactEncrypt(plaintext).setProtectedHeader(header).encrypt(key);
    } finally {
      plaintext.fill(0);
    }
  };
  await encrypt({});
  return encrypt;
}

function valid<Type extends z.ZodType>(type: Type, json: unknown): z.output<Type> {
  const { data, success } = type.safeParse(json);
  if (!success) throw new GatewayError('The response of the gateway is invalid.');
  return data;
}
