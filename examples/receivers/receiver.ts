/**
 * Verifies webhooks. Copy `verify` and the functions that it calls. The rest of this file
 * runs the test vectors in this folder.
 *
 *     node receiver.ts        (Node.js 22.18 or later runs TypeScript directly)
 */
import { createHmac, createPublicKey, timingSafeEqual, verify as verifyBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The headers as `request.headers` in Node.js. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Maximum age of a delivery in seconds, which also covers clock differences. */
const TOLERANCE = 300;
/** The service sends one signature, or a few during a rotation. Others are not compared. */
const MAX_SIGNATURES = 10;
/** Secrets of clients and keys of endpoints are longer. */
const MIN_KEY_BYTES = 24;
const PUBLIC_KEY_BYTES = 32;

/**
 * Returns whether the service sent this delivery to you just now.
 *
 * @param body the raw bytes of the body, before any parsing
 * @param secret the key of the endpoint (`whsec_…` or `whpk_…`), or the client secret, unchanged
 * @param now seconds since the epoch
 */
export function verify(
  body: Buffer,
  headers: Headers,
  secret: string,
  now: number = Date.now() / 1000,
): boolean {
  // This order ensures that only data from the service is parsed. `Service-Signature` is always made with the client secret.
  if (!verifyStandardWebhooks(body, headers, secret, now)) return false;
  return isKeyOfEndpoint(secret) || verifyServiceSignature(body, headers, secret);
}

/** Verifies `Service-Signature`, which covers only the event, the session and the length of the body. */
export function verifyServiceSignature(body: Buffer, headers: Headers, secret: string): boolean {
  const { event, session_id: sessionId } = parse(body);
  if (typeof event !== 'string') return false;
  if (sessionId !== undefined && typeof sessionId !== 'string') return false;
  const signed =
    `Content-Length|${body.length}|Content-Type|application/json|Encryption-Type|HMAC-SHA256|event|${event}` +
    (sessionId === undefined ? '' : `|session_id|${sessionId}`);
  return isEqual(hmac(secret, signed), valueOf(headers, 'service-signature'));
}

/** Verifies the Standard Webhooks signature, which covers the ID, the time and every byte of the body. */
export function verifyStandardWebhooks(body: Buffer, headers: Headers, secret: string, now: number): boolean {
  const id = valueOf(headers, 'webhook-id');
  const timestamp = valueOf(headers, 'webhook-timestamp');
  if (id === '' || !/^\d{1,15}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE)
    return false;
  const signatures = valueOf(headers, 'webhook-signature').split(' ', MAX_SIGNATURES);
  const start = `${id}.${timestamp}.`;
  if (secret.startsWith('whpk_')) {
    const key = publicKeyOf(secret);
    if (!key) return false;
    const signed = Buffer.concat([Buffer.from(start), body]);
    return signatures
      .filter((signature) => signature.startsWith('v1a,'))
      .some((signature) => verifyBytes(null, signed, key, Buffer.from(signature.slice(4), 'base64')));
  }
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  // Anyone can sign with an empty key, or guess a short one.
  if (key.length < MIN_KEY_BYTES) return false;
  const expected = `v1,${hmac(key, start, body)}`;
  return signatures.some((signature) => isEqual(expected, signature));
}

/** Whether a key is that of an endpoint, as opposed to the client secret. */
function isKeyOfEndpoint(secret: string): boolean {
  return secret.startsWith('whsec_') || secret.startsWith('whpk_');
}

/** Returns nothing for a malformed key. */
function publicKeyOf(text: string): ReturnType<typeof createPublicKey> | undefined {
  const bytes = Buffer.from(text.slice(5), 'base64');
  if (bytes.length !== PUBLIC_KEY_BYTES) return undefined;
  const x = bytes.toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

function hmac(secret: string | Buffer, ...parts: readonly (string | Buffer)[]): string {
  const mac = createHmac('sha256', secret);
  for (const part of parts) mac.update(part);
  return mac.digest('base64');
}

/** Compares in constant time, so that the duration does not reveal where the texts differ. */
function isEqual(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function valueOf(headers: Headers, name: string): string {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : '';
}

function parse(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(body.toString('utf8')) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

interface Delivery {
  readonly name: string;
  readonly accepted: boolean;
  readonly now: number;
  readonly secret: string;
  readonly body: string;
  readonly headers: Headers;
}

function main(folder: string): void {
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  let count = 0;
  const expectThat = (name: string, isRight: boolean): void => {
    if (!isRight) {
      console.error(`Failed: ${name}`);
      process.exit(1);
    }
    count += 1;
  };
  for (const { name, body, secret, signature } of read('service-signature.json').vectors) {
    const headers = { 'Service-Signature': signature };
    expectThat(name, verifyServiceSignature(Buffer.from(body), headers, secret));
  }
  const deliveries = ['deliveries.json', 'endpoint-keys.json'].flatMap(
    (each) => read(each).deliveries as Delivery[],
  );
  for (const { name, accepted, now, secret, body, headers } of deliveries) {
    expectThat(name, verify(Buffer.from(body), headers, secret, now) === accepted);
  }
  console.log(`ok ${count}`);
}

const file = fileURLToPath(import.meta.url);
if (process.argv[1] === file) main(process.argv[2] ?? dirname(file));
