import type { WebhookEvent } from './schemas.js';

type PlainHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Headers as a `Headers` object of any implementation of `fetch`, or as Node.js and frameworks give them. */
export type WebhookHeaders = Pick<Headers, 'get'> | PlainHeaders;

/** A webhook must not be processed. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';

  constructor(
    /** The problem, for programs. */
    readonly reason: 'missing_header' | 'timestamp' | 'signature' | 'service_signature' | 'body',
    message: string,
  ) {
    super(message);
  }
}

export interface VerifyOptions {
  /** How many seconds the timestamp may differ from now; `Infinity` to verify a saved delivery. Default: 300. */
  readonly tolerance?: number | undefined;
}

export interface SignOptions {
  /** The header `webhook-id`. Default: a new one. */
  readonly id?: string | undefined;
  /** When the webhook was sent. Default: now. */
  readonly timestamp?: Date | undefined;
}

const DEFAULT_TOLERANCE = 300;
/** The service sends one signature, or a few during the rotation of a key or secret. */
const MAX_SIGNATURES = 10;
const KEY_BYTES = 32;
/** The least of Standard Webhooks. The service makes keys of 32 bytes. */
const MIN_SECRET_BYTES = 24;
/** The bytes before an Ed25519 private key in PKCS #8 (RFC 8410, section 7). */
const PKCS8 = Uint8Array.from([48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32]);
const encoder = new TextEncoder();

/**
 * Verifies the signatures of a webhook and its timestamp, and returns its event.
 *
 * @param body the exact bytes of the request body, before any parsing
 * @param secret the key of the endpoint (`whsec_…`, or its public key `whpk_…`), or the secret of your API client, whose
 * `Service-Signature` is verified, too; during a rotation, the old and the new one
 * @throws SignatureError if the webhook does not come from the service, was changed, or is too old
 * @throws TypeError if there is no secret, or a key is malformed or private
 */
async function verify(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { tolerance = DEFAULT_TOLERANCE }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const bytes = bytesOf(body);
  const secrets = secretsIn(secret);
  if (secrets.some((each) => each.startsWith('whsk_')))
    throw new TypeError('A receiver must not have the private key, whsk_…. Give the public key, whpk_….');
  const clientKeys = await Promise.all(secrets.filter((each) => !isOfEndpoint(each)).map(keyOf));
  const endpointKeys = await Promise.all(secrets.filter(isOfEndpoint).map(endpointKeyOf));
  const [id, timestamp] = [required(headers, 'webhook-id'), required(headers, 'webhook-timestamp')];
  const signatures = required(headers, 'webhook-signature').split(' ', MAX_SIGNATURES);

  const age = Date.now() / 1000 - Number(timestamp);
  if (Number.isNaN(age))
    throw new SignatureError('timestamp', 'The header webhook-timestamp is not a number of seconds.');
  if (Math.abs(age) > tolerance) {
    throw new SignatureError(
      'timestamp',
      `The header webhook-timestamp is ${Math.round(Math.abs(age))} s ${age < 0 ? 'ahead of' : 'behind'} the clock of this machine; at most ${tolerance} s are accepted.`,
    );
  }
  const message = joined(encoder.encode(`${id}.${timestamp}.`), bytes);
  // Only the endpoint has this key, and the signature covers the whole body and the time.
  if (await isSignedByOne(message, signatures, endpointKeys)) return eventOf(bytes);
  const standard = signatures.filter((each) => each.startsWith('v1,')).map((each) => each.slice(3));
  if (!(await isSigned(message, standard, clientKeys))) {
    throw new SignatureError(
      'signature',
      'The header webhook-signature does not match: the body was changed, or the key is not that of the endpoint or the client.',
    );
  }
  const event = eventOf(bytes);
  const parts = signedParts(bytes.length, event);
  const isOfService = await isSigned(parts, [required(headers, 'service-signature')], clientKeys);
  // During a rotation, this header has the signature of the old secret only, which the receiver may have replaced already.
  if (!isOfService && standard.length === 1) {
    throw new SignatureError('service_signature', 'The header Service-Signature does not match.');
  }
  return event;
}

/** @throws TypeError if there is none */
function secretsIn(secret: string | readonly string[]): string[] {
  // Programs in JavaScript give the variable of an environment that lacks it. Files end with a line feed.
  const given = [secret].flat().filter((each) => typeof each === 'string');
  const secrets = given.map((each) => each.trim()).filter((each) => each !== '');
  if (secrets.length > 0) return secrets;
  throw new TypeError(
    'The secret is missing. Give the key of the endpoint, or the secret of your API client.',
  );
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return encoder.encode(body);
  // Programs in JavaScript give what a framework has parsed, which cannot be signed again byte by byte.
  if (typeof (body as Partial<ArrayBuffer> | undefined)?.byteLength === 'number')
    return Uint8Array.from(new Uint8Array(body));
  throw new SignatureError('body', 'The body is not text or bytes. Give the exact body, before any parsing.');
}

function required(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers as PlainHeaders).find(([key]) => key.toLowerCase() === name)?.[1];
  const text = typeof value === 'object' ? value?.[0] : value;
  if (!text) throw new SignatureError('missing_header', `The header ${name} is missing.`);
  return text;
}

function eventOf(bytes: Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof event === 'object' && event !== null && 'event' in event) return event as WebhookEvent;
  } catch {
    // Reported below.
  }
  throw new SignatureError('body', 'The body is not the JSON of an event.');
}

/** The text that `Service-Signature` signs. */
function signedParts(length: number, event: WebhookEvent): Uint8Array<ArrayBuffer> {
  const parts = [
    ['Content-Length', length],
    ['Content-Type', 'application/json'],
    ['Encryption-Type', 'HMAC-SHA256'],
    ['event', event.event],
    ...('session_id' in event && event.session_id ? [['session_id', event.session_id]] : []),
  ];
  return encoder.encode(parts.flat().join('|'));
}

function keyOf(secret: string): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
}

/** Whether a key is that of an endpoint, as opposed to the secret of an API client. */
function isOfEndpoint(key: string): boolean {
  return /^wh(?:sec|pk)_/.test(key);
}

/** @throws TypeError if the key is malformed. Anyone could sign with an empty key, or guess a short one. */
function endpointKeyOf(text: string): Promise<CryptoKey> {
  const [kind, encoded] = [text.slice(0, text.indexOf('_')), text.slice(text.indexOf('_') + 1)];
  const bytes = bytesOfBase64(encoded);
  if (!bytes || (kind === 'whpk' ? bytes.length !== KEY_BYTES : bytes.length < MIN_SECRET_BYTES))
    throw malformed(kind);
  return kind === 'whpk'
    ? crypto.subtle.importKey('raw', bytes, 'Ed25519', false, ['verify'])
    : crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

function malformed(kind: string): TypeError {
  return new TypeError(`The key ${kind}_… is malformed. Give it as the service showed it.`);
}

function bytesOfBase64(encoded: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    return bytes.length > 0 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Whether one of the signatures of the header, with their versions, is of one of the keys of endpoints. */
async function isSignedByOne(
  message: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  keys: readonly CryptoKey[],
): Promise<boolean> {
  const of = (version: string): string[] =>
    signatures.filter((each) => each.startsWith(`${version},`)).map((each) => each.slice(version.length + 1));
  const [secrets, publicKeys] = [true, false].map((isSecret) =>
    keys.filter(({ type }) => (type === 'secret') === isSecret),
  );
  if (await isSigned(message, of('v1'), secrets ?? [])) return true;
  const given = of('v1a')
    .map(bytesOfBase64)
    .filter((each) => each !== undefined);
  const results = await Promise.all(
    (publicKeys ?? []).flatMap((key) =>
      given.map((signature) => crypto.subtle.verify('Ed25519', key, signature, message)),
    ),
  );
  return results.includes(true);
}

/** Whether one of the signatures is of one of the keys. Computes one HMAC per key. */
async function isSigned(
  message: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  keys: readonly CryptoKey[],
): Promise<boolean> {
  const expected = await hmacs(message, keys);
  return signatures.some((given) => expected.some((signature) => isEqual(signature, given)));
}

/** Returns an HMAC per key, in base64. */
async function hmacs(message: Uint8Array<ArrayBuffer>, keys: readonly CryptoKey[]): Promise<string[]> {
  const all = await Promise.all(keys.map((key) => crypto.subtle.sign('HMAC', key, message)));
  return all.map(base64Of);
}

function base64Of(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}

/** Takes the same time for every text of the right length, so that it does not reveal where the texts differ. */
function isEqual(expected: string, given: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let index = 0; index < expected.length; index += 1)
    difference |= expected.charCodeAt(index) ^ given.charCodeAt(index);
  return difference === 0;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/**
 * Signs a body as the service does. Use it in tests of your receiver only.
 *
 * @param body the exact text or bytes to send, which must be the JSON of an event
 * @param secret the secret that your receiver verifies with, or the key of an endpoint: `whsec_…`, or the private key `whsk_…` of a pair
 * that only your tests have; for a test of a rotation, the active and the other one
 * @returns the headers of the webhook
 * @throws TypeError if there is no secret, or a key is malformed or public
 */
async function sign(
  body: string | Uint8Array | ArrayBuffer,
  secret: string | readonly string[],
  { id = crypto.randomUUID(), timestamp = new Date() }: SignOptions = {},
): Promise<Record<string, string>> {
  const bytes = bytesOf(body);
  const event = eventOf(bytes);
  const seconds = Math.floor(timestamp.getTime() / 1000);
  const secrets = secretsIn(secret);
  const message = joined(encoder.encode(`${id}.${seconds}.`), bytes);
  const signatures = await Promise.all(secrets.map((each) => signatureOf(message, each)));
  // This header has room for one signature. With the key of an endpoint alone, the receiver cannot know its secret.
  const clientSecret = secrets.find((each) => !/^wh(?:sec|pk|sk)_/.test(each)) ?? crypto.randomUUID();
  const [service = ''] = await hmacs(signedParts(bytes.length, event), [await keyOf(clientSecret)]);
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(bytes.length),
    'Encryption-Type': 'HMAC-SHA256',
    'Service-Signature': service,
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatures.join(' '),
  };
}

/** Returns one signature of the header `webhook-signature`, with its version. */
async function signatureOf(message: Uint8Array<ArrayBuffer>, secret: string): Promise<string> {
  if (secret.startsWith('whpk_'))
    throw new TypeError('A public key cannot sign. Give the private key, whsk_….');
  if (secret.startsWith('whsk_')) {
    const key = await privateKeyOf(secret);
    return `v1a,${base64Of(await crypto.subtle.sign('Ed25519', key, message))}`;
  }
  const key = await (isOfEndpoint(secret) ? endpointKeyOf(secret) : keyOf(secret));
  return `v1,${(await hmacs(message, [key]))[0]}`;
}

/** @throws TypeError if the key is malformed */
function privateKeyOf(text: string): Promise<CryptoKey> {
  // The libraries of Standard Webhooks append the public key.
  const bytes = bytesOfBase64(text.slice('whsk_'.length).trim())?.slice(0, KEY_BYTES);
  if (bytes?.length !== KEY_BYTES) throw malformed('whsk');
  return crypto.subtle.importKey('pkcs8', joined(PKCS8, bytes), 'Ed25519', false, ['sign']);
}

/** Verification of webhooks, and signatures for tests. */
export const webhooks = { verify, sign };
