import type { WebhookEvent } from './schemas.js';

/** Headers as a `Headers` object, or as Node.js and frameworks give them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A webhook must not be processed. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError';

  constructor(
    /** What is wrong, for programs. */
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

const DEFAULT_TOLERANCE = 300;
/** The service sends one signature, or two during the rotation of a secret. */
const MAX_SIGNATURES = 10;
const encoder = new TextEncoder();

/**
 * Verifies both signatures of a webhook and its timestamp, and returns its event.
 *
 * @param body the exact bytes of the request body, before any parsing
 * @param secret the secret of your API client; during a rotation, the old and the new one
 * @throws SignatureError if the webhook does not come from the service, was changed, or is too old
 */
async function verify(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { tolerance = DEFAULT_TOLERANCE }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const bytes = bytesOf(body);
  const keys = await Promise.all([secret].flat().map(keyOf));
  const [id, timestamp] = [required(headers, 'webhook-id'), required(headers, 'webhook-timestamp')];
  const signatures = required(headers, 'webhook-signature').split(' ', MAX_SIGNATURES);

  const age = Date.now() / 1000 - Number(timestamp);
  // The comparison is false for a timestamp that is not a number.
  if (!(Math.abs(age) <= tolerance)) {
    throw new SignatureError(
      'timestamp',
      `The header webhook-timestamp is ${Math.round(Math.abs(age))} s ${age < 0 ? 'ahead of' : 'behind'} the clock of this machine; at most ${tolerance} s are accepted.`,
    );
  }
  const message = joined(encoder.encode(`${id}.${timestamp}.`), bytes);
  const standard = signatures.filter((each) => each.startsWith('v1,')).map((each) => each.slice(3));
  if (!(await isSigned(message, standard, keys))) {
    throw new SignatureError(
      'signature',
      'The header webhook-signature does not match: the body was changed, or the secret is not that of the client.',
    );
  }
  const event = eventOf(bytes);
  const parts = signedParts(bytes.length, event);
  const isOfService = await isSigned(parts, [required(headers, 'service-signature')], keys);
  // During a rotation, this header has the signature of the old secret only, which the receiver may have replaced already.
  if (!isOfService && standard.length === 1) {
    throw new SignatureError('service_signature', 'The header Service-Signature does not match.');
  }
  return event;
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
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
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

/** Whether one of the signatures is of one of the keys. Computes one HMAC per key. */
async function isSigned(
  message: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  keys: readonly CryptoKey[],
): Promise<boolean> {
  const hmacs = await Promise.all(keys.map((key) => crypto.subtle.sign('HMAC', key, message)));
  const expected = hmacs.map((hmac) => btoa(String.fromCharCode(...new Uint8Array(hmac))));
  return signatures.some((given) => expected.some((signature) => isEqual(signature, given)));
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

/** Verification of webhooks. */
export const webhooks = { verify };
