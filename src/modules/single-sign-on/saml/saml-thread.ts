import { parentPort } from 'node:worker_threads';
import { SAML, ValidateInResponseTo, type CacheProvider, type SamlConfig } from '@node-saml/node-saml';
import { DOMParser, XMLSerializer } from '@xmldom/xmldom';
import { decrypt } from 'xml-encryption';
import { parseXml } from './xml.js';

/** The tasks of `SamlThread`. The thread has no access to the database, and gets the keys with the task. */
const TASKS = { parse: parseXml, decrypt: decryptAssertion, verify };

export type SamlTasks = typeof TASKS;

export type SamlOutcome = { readonly value: unknown } | { readonly failure: string };

/** The data that the library needs to check a response. */
export interface Verification {
  readonly response: string;
  /** The assertion that takes the place of the encrypted one; undefined if it was not encrypted. */
  readonly decrypted: string | undefined;
  readonly requestId: string;
  readonly requestedAt: Date;
  readonly options: SamlConfig;
}

parentPort?.on('message', ({ name, parameters }: { name: keyof SamlTasks; parameters: unknown[] }) => {
  const task = TASKS[name] as (...parameters: unknown[]) => unknown;
  Promise.resolve()
    .then(() => task(...parameters))
    .then((value) => ({ value }))
    .catch((error: unknown) => ({ failure: (error as Error).message }))
    .then((outcome: SamlOutcome) => parentPort?.postMessage(outcome));
});
parentPort?.postMessage('ready');

/** Returns the bytes of the assertion that its signature covers. Rejects if the response is not valid. */
async function verify({
  response,
  decrypted,
  requestId,
  requestedAt,
  options,
}: Verification): Promise<string> {
  const saml = new SAML({
    ...options,
    validateInResponseTo: ValidateInResponseTo.always,
    cacheProvider: new OneRequest(requestId, requestedAt),
  });
  const readable = decrypted === undefined ? response : withAssertion(response, decrypted);
  const SAMLResponse = Buffer.from(readable).toString('base64');
  const { profile } = await saml.validatePostResponseAsync({ SAMLResponse });
  return profile?.getAssertionXml?.() ?? '';
}

/** Returns the encrypted assertion of a response, decrypted with one of the keys; undefined if none is the right one. */
async function decryptAssertion(
  response: string,
  namespace: string,
  keys: readonly string[],
): Promise<string | undefined> {
  const document = new DOMParser().parseFromString(response, 'text/xml');
  const encrypted = String(document.getElementsByTagNameNS(namespace, 'EncryptedAssertion').item(0));
  for (const key of keys) {
    // `checkResponse` has checked the algorithms. Okta and AD FS encrypt in the mode CBC by default.
    const options = { key, disallowDecryptionWithInsecureAlgorithm: false, warnInsecureAlgorithm: false };
    const assertion = await new Promise<string | undefined>((resolve) => {
      decrypt(encrypted, options, (error, text) => resolve(error ? undefined : text));
    });
    if (assertion !== undefined) return assertion;
  }
  return undefined;
}

/**
 * Returns the response with the assertion in the place of the encrypted one. A signature of the response is left out: only that
 * of the assertion counts.
 */
function withAssertion(response: string, assertion: string): string {
  const document = new DOMParser().parseFromString(response, 'text/xml');
  const parsed = new DOMParser().parseFromString(assertion, 'text/xml').documentElement;
  const root = document.documentElement;
  for (const child of Array.from(root.childNodes) as Element[])
    if (child.localName === 'EncryptedAssertion') root.replaceChild(document.importNode(parsed, true), child);
    else if (child.localName === 'Signature') root.removeChild(child);
  return new XMLSerializer().serializeToString(document);
}

/**
 * The requests that the library knows: the one of this login, which PostgreSQL keeps as a row of `sso_attempt` and lets only
 * one response use.
 */
class OneRequest implements CacheProvider {
  constructor(
    private readonly requestId: string,
    private readonly createdAt: Date,
  ) {}

  saveAsync(): Promise<null> {
    return Promise.resolve(null);
  }

  getAsync(key: string): Promise<string | null> {
    return Promise.resolve(key === this.requestId ? this.createdAt.toISOString() : null);
  }

  removeAsync(): Promise<null> {
    return Promise.resolve(null);
  }
}
