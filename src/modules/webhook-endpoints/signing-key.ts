import { createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto';
import { standardSignature, type SignedMessage } from '../../infrastructure/crypto/index.js';

/** Returns one signature of the header `webhook-signature`. */
export type MessageSigner = (message: SignedMessage) => string;

/** Kinds of keys that only one endpoint has (Standard Webhooks 1.0.0, "Signature scheme"). */
export type OwnKeyKind = 'hmac' | 'ed25519';

export interface GeneratedKey {
  /** The text that is sealed: the secret as the receiver gets it, or the private key. */
  readonly sealable: string;
  readonly publicKey: string | null;
}

const SECRET_PREFIX = 'whsec_';
const PRIVATE_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';
const KEY_BYTES = 32;
/** The bytes before the private key in PKCS #8 (RFC 8410, section 7). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

export function generateKey(kind: OwnKeyKind): GeneratedKey {
  const key = randomBytes(KEY_BYTES);
  const text = key.toString('base64');
  if (kind === 'hmac') return { sealable: SECRET_PREFIX + text, publicKey: null };
  const { x = '' } = createPublicKey(privateKeyOf(key)).export({ format: 'jwk' });
  const publicKey = PUBLIC_PREFIX + Buffer.from(x, 'base64url').toString('base64');
  return { sealable: PRIVATE_PREFIX + text, publicKey };
}

/** Returns the function that signs with a generated key. */
export function signerOf(kind: OwnKeyKind, sealable: string): MessageSigner {
  const key = Buffer.from(sealable.slice(sealable.indexOf('_') + 1), 'base64');
  if (kind === 'hmac') return (message) => standardSignature(message, key);
  const privateKey = privateKeyOf(key);
  return ({ id, timestampSeconds, body }) => {
    const signed = Buffer.concat([Buffer.from(`${id}.${timestampSeconds}.`), body]);
    return `v1a,${sign(null, signed, privateKey).toString('base64')}`;
  };
}

function privateKeyOf(key: Buffer): ReturnType<typeof createPrivateKey> {
  return createPrivateKey({ key: Buffer.concat([PKCS8, key]), format: 'der', type: 'pkcs8' });
}
