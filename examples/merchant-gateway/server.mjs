/*
 * A merchant gateway with simulated merchants: the protocol is in docs/merchant-gateway.md. It runs with
 * MERCHANT_GATEWAY_SECRET=whsec_… PORT=4100 node examples/merchant-gateway/server.mjs
 *
 * To build a real one, replace `askMerchant` and `undo`, keep the sign-ins in a database, and keep the private key in a key store.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { calculateJwkThumbprint, compactDecrypt, exportJWK, generateKeyPair } from 'jose';
import { Webhook } from 'standardwebhooks';

const MAX_BODY = 64 * 1024;

/** Returns what the merchant says. `code` is undefined in the first step. */
function askMerchant({ user_name: userName, password }, code) {
  if (userName === 'user_locked') return { outcome: 'failed' };
  if (password !== 'pass_good') return { outcome: 'refused' };
  if (userName === 'user_good') return { outcome: 'succeeded' };
  if (userName !== 'user_otp') return { outcome: 'refused' };
  if (code === undefined)
    return { outcome: 'code_required', challenge: { id: randomUUID(), hint: 'phone ending in 55' } };
  return { outcome: code === '123456' ? 'succeeded' : 'refused' };
}

class Refusal extends Error {
  constructor(status, error) {
    super(error);
    this.status = status;
  }
}

/** Starts the gateway. `rotate()` replaces its key; `signIns` is what it knows, by ID. */
export async function startGateway({ secret, port = 0, merchant = askMerchant }) {
  const verifier = new Webhook(secret);
  const signIns = new Map();
  let key;
  const rotate = async () => {
    const { publicKey, privateKey } = await generateKeyPair('RSA-OAEP-256');
    const jwk = await exportJWK(publicKey);
    key = {
      privateKey,
      jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), use: 'enc', alg: 'RSA-OAEP-256' },
    };
  };
  await rotate();

  /** Decrypts what the user has entered, and checks that it belongs to this sign-in. */
  async function decrypted(jwe, signInId) {
    const { plaintext } = await compactDecrypt(
      jwe,
      ({ kid }) => {
        if (kid !== key.jwk.kid) throw new Refusal(400, 'unknown_key');
        return key.privateKey;
      },
      { keyManagementAlgorithms: ['RSA-OAEP-256'], contentEncryptionAlgorithms: ['A256GCM'] },
    );
    const entered = JSON.parse(new TextDecoder().decode(plaintext));
    if (entered.sign_in_id !== signInId) throw new Refusal(400, 'wrong_sign_in');
    return entered;
  }

  async function respond(method, path, id, body) {
    const [, resource, signInId, step] = path.split('/');
    if (method === 'GET' && path === '/keys') return { keys: [key.jwk] };
    if (resource !== 'sign-ins') throw new Refusal(404, 'not_found');
    if (method === 'POST' && signInId === undefined) {
      const { sign_in_id, credentials, ...target } = body;
      const entered = await decrypted(credentials, sign_in_id);
      // A repeated sign-in has the outcome of the first one. The merchant is asked only once.
      const known = signIns.get(sign_in_id);
      if (known) return known.response;
      const response = merchant(entered);
      signIns.set(sign_in_id, { target, response, credentials: response.challenge && entered });
      return response;
    }
    const signIn = signIns.get(signInId);
    if (!signIn) throw new Refusal(404, 'not_found');
    if (method === 'POST' && step === 'code') {
      if (body.sign_in_id !== signInId) throw new Refusal(400, 'wrong_sign_in');
      const { code } = await decrypted(body.code, signInId);
      if (signIn.response.outcome === 'succeeded') return signIn.response;
      if (body.challenge_id !== signIn.response.challenge?.id) return { outcome: 'failed' };
      const response = merchant(signIn.credentials, code);
      if (response.outcome === 'succeeded') signIns.set(signInId, { target: signIn.target, response });
      return response;
    }
    // The signature does not cover the path, but it covers the ID of the message.
    if (method !== 'DELETE' || id !== `undo_${signInId}`) throw new Refusal(404, 'not_found');
    signIns.delete(signInId);
    return undefined;
  }

  const server = createServer(async (request, response) => {
    try {
      // The service always sends the length of the body.
      const length = Number(request.headers['content-length'] ?? 0);
      if (length > MAX_BODY || 'transfer-encoding' in request.headers) throw new Refusal(413, 'too_large');
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      let body;
      try {
        body = verifier.verify(text, request.headers);
      } catch {
        throw new Refusal(401, 'wrong_signature');
      }
      const result = await respond(request.method, request.url, request.headers['webhook-id'], body);
      response.writeHead(result ? 200 : 204, { 'content-type': 'application/json' });
      response.end(result && JSON.stringify(result));
    } catch (error) {
      const { status = 400, message } = error instanceof Refusal ? error : { message: 'invalid_request' };
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: message }));
    }
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, signIns, rotate, close: () => server.close() };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { MERCHANT_GATEWAY_SECRET: secret, PORT: port = '4100' } = process.env;
  if (!secret) throw new Error('Set MERCHANT_GATEWAY_SECRET to the secret of the service.');
  const { url } = await startGateway({ secret, port: Number(port) });
  console.log(`The merchant gateway listens on ${url}`);
}
