import crypto from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { createPrivateKey, createPublicKey, generateKeyPairSync, webcrypto } = crypto;
const { subtle } = webcrypto;
const generateKey = subtle.generateKey.bind(subtle);

const BITS = 2_048;
const PEM = { type: 'pkcs8', format: 'pem' };

/** The keys of the run that this process knows, PKCS #8. */
const known = [];
let isShared = false;
/** How many of them the current test file has used. */
let used = 0;

/**
 * Makes test files of the service use the same RSA keys, which take 0.3 s of CPU time each to generate. A file uses them in
 * order, and never one twice. Programs and unit tests generate their own.
 */
export function shareRsaKeys(isOn) {
  isShared = isOn;
  used = 0;
}

crypto.generateKeyPairSync = (type, options) => {
  const { modulusLength, ...others } = options ?? {};
  if (!isShared || type !== 'rsa' || modulusLength !== BITS || Object.keys(others).length > 0)
    return generateKeyPairSync(type, options);
  const place = (used += 1);
  const pem = read(place) ?? keep(place, generateKeyPairSync(type, options).privateKey);
  return { privateKey: createPrivateKey(pem), publicKey: createPublicKey(pem) };
};

Object.defineProperty(subtle, 'generateKey', {
  async value(algorithm, extractable, usages) {
    const { name, hash, modulusLength } = algorithm;
    if (!isShared || name !== 'RSASSA-PKCS1-v1_5' || modulusLength !== BITS)
      return generateKey(algorithm, extractable, usages);
    const place = (used += 1);
    const pem =
      read(place) ??
      keep(place, crypto.KeyObject.from((await generateKey(algorithm, true, usages)).privateKey));
    const imported = (format, key, use, isExtractable) =>
      subtle.importKey(format, key.export({ type: format, format: 'der' }), { name, hash }, isExtractable, [
        use,
      ]);
    return {
      privateKey: await imported('pkcs8', createPrivateKey(pem), 'sign', extractable),
      publicKey: await imported('spki', createPublicKey(pem), 'verify', true),
    };
  },
});

const directory = () => join(process.env.TEST_RUN_DIRECTORY, 'rsa-keys');

/** Returns a key that this process, or another worker of the run, has kept. */
function read(place) {
  try {
    known[place] ??= readFileSync(join(directory(), `${place}.pem`), 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return known[place];
}

function keep(place, key) {
  mkdirSync(directory(), { recursive: true });
  const file = join(directory(), `${place}.pem`);
  const pem = key.export(PEM);
  writeFileSync(`${file}.${process.pid}`, pem);
  renameSync(`${file}.${process.pid}`, file);
  known[place] = pem;
  return pem;
}
