import { SECOND } from '../../../infrastructure/time/index.js';
import { PROVIDER_CLOCK_TOLERANCE, RefusedLogin } from '../identity-provider.js';
import { MAX_CERTIFICATES, readCertificate } from './saml-metadata.js';
import { allNamed, childrenOf, XML_LIMITS, type XmlElement, type XmlProblem } from './xml.js';

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
export const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion';
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
const STATUS = 'urn:oasis:names:tc:SAML:2.0:status:';
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const NAME_ID_FORMATS = 'nameid-format:';

/** SAML 2.0 core, section 8.3.7, allows 256 for persistent identifiers; the column has 255. */
const MAX_NAME_ID_LENGTH = 255;

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
/** Algorithms without SHA-1, and with a key pair: HMAC would accept the public key as a secret. */
const ALGORITHMS: Readonly<Record<string, ReadonlySet<string>>> = {
  SignatureMethod: new Set([`${MORE}rsa-sha256`, `${MORE}rsa-sha512`]),
  DigestMethod: new Set([
    'http://www.w3.org/2001/04/xmlenc#sha256',
    'http://www.w3.org/2001/04/xmlenc#sha512',
  ]),
  CanonicalizationMethod: new Set([
    'http://www.w3.org/2001/10/xml-exc-c14n#',
    'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  ]),
  Transform: new Set([
    `${SIGNATURE}enveloped-signature`,
    'http://www.w3.org/2001/10/xml-exc-c14n#',
    'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  ]),
};
/** Without RSA PKCS #1 v1.5 and Triple DES. */
const ENCRYPTION = new Set([
  'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
  'http://www.w3.org/2009/xmlenc11#rsa-oaep',
  'http://www.w3.org/2001/04/xmlenc#aes128-cbc',
  'http://www.w3.org/2001/04/xmlenc#aes256-cbc',
  'http://www.w3.org/2009/xmlenc11#aes128-gcm',
  'http://www.w3.org/2009/xmlenc11#aes256-gcm',
]);

/**
 * Checking a signature takes time for each node, namespace, reference and certificate. A person in 400 groups needs fewer; Okta declares two
 * namespaces for each of them.
 */
export const RESPONSE_LIMITS = {
  ...XML_LIMITS,
  // The maximum number of lines in the base64 of an encrypted assertion.
  replacements: 5_000,
  values: 100_000,
  nodes: 1_500,
  elements: 500,
  attributes: 1_000,
  declarations: 1_000,
  namespaces: 32,
};
/** The elements of a signature, which usually has 20, and characters of a list of prefixes, which usually has one. */
const MAX_SIGNATURE_ELEMENTS = 60;
const MAX_PREFIX_LIST_LENGTH = 128;

/** Why a response cannot be read. */
const XML_PROBLEMS: Readonly<Record<XmlProblem, string>> = {
  'too complex': `The response has more than ${RESPONSE_LIMITS.elements} elements, ${RESPONSE_LIMITS.namespaces} namespaces or ${RESPONSE_LIMITS.depth} levels, or too many or too long XML attributes. Send fewer attributes or groups.`,
  'too many references': `The response has more than ${RESPONSE_LIMITS.replacements} character references and carriage returns. Send fewer attributes or groups.`,
  malformed:
    'The response is not well-formed XML, or has a document type, a comment or a processing instruction.',
};

const REASONS = {
  notSaml: 'The response is not a SAML 2.0 response.',
  destination: 'The response is meant for another address (the Destination differs).',
  request: 'The response belongs to another login (InResponseTo differs).',
  issuer: 'The response comes from another identity provider (the Issuer differs from the entityID).',
  assertions: 'The response must contain exactly one assertion.',
  unsigned: 'The assertion is not signed.',
  signatures: 'The response is signed in an unusual way. Sign the assertion once.',
  unknownCertificate: 'The response was signed with a certificate that is not in the metadata.',
  changed:
    'The signature of the assertion is not valid: the assertion was changed, or signed with a certificate that is not in the metadata.',
  subject: 'The assertion has no subject that is confirmed for this login.',
  recipient: 'The assertion is meant for another address (the Recipient differs).',
  nameId:
    'The assertion must identify the person by a NameID that stays the same, of at most 255 characters.',
  transient:
    'The NameID is transient. Choose the format persistent or emailAddress at the identity provider.',
  session: 'The assertion does not say when the person logged in (AuthnInstant).',
} as const;

export const TOO_LARGE = 'The response is larger than 256 KiB.';
export const NOT_DECRYPTED =
  'The assertion cannot be decrypted: it was not encrypted with the certificate in our metadata.';
export const WITHOUT_FRESH_LOGIN =
  'The identity provider did not ask the person to log in again, although it was requested (ForceAuthn).';
const EXPIRED = `The assertion has expired: the login took too long, or the clock of the identity provider differs by more than ${PROVIDER_CLOCK_TOLERANCE / SECOND} seconds.`;

export interface ExpectedResponse {
  /** The `entityID` of the provider. */
  readonly issuer: string;
  /** Our address that the response was sent to. */
  readonly address: string;
  /** The ID of our request. */
  readonly requestId: string;
  /** The signing certificates of the provider, DER in base64. */
  readonly certificates: readonly string[];
}

/** The content of the signed bytes of an assertion. */
export interface SignedAssertion {
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly authenticatedAt: Date;
  /** When sessions that begin with the assertion must end; undefined if it does not say. */
  readonly sessionEndsAt: Date | undefined;
  /** The values of each attribute, by its name. */
  readonly attributes: Readonly<Record<string, readonly string[]>>;
}

/** @param root what `parseXml` returned. @throws RefusedLogin */
export function rootOf(root: XmlElement | XmlProblem): XmlElement {
  if (typeof root === 'string') throw new RefusedLogin(XML_PROBLEMS[root]);
  return root;
}

/**
 * Checks everything about a response that does not need its signature, before any library reads it.
 *
 * @returns whether the assertion is encrypted
 * @throws RefusedLogin with the reason
 */
export function checkResponse(
  root: XmlElement,
  expected: ExpectedResponse,
): { readonly isEncrypted: boolean } {
  if (root.namespace !== PROTOCOL || root.name !== 'Response') throw new RefusedLogin(REASONS.notSaml);
  // Optional: the signed assertion says for which address it is (SAML 2.0 core, section 3.2.2).
  const { Destination: destination = expected.address } = root.attributes;
  if (!isAddress(destination, expected)) throw new RefusedLogin(REASONS.destination);
  if (root.attributes['InResponseTo'] !== expected.requestId) throw new RefusedLogin(REASONS.request);
  const [issuer] = childrenOf(root, ASSERTION, 'Issuer');
  if (issuer && issuer.text.trim() !== expected.issuer) throw new RefusedLogin(REASONS.issuer);
  checkStatus(root);
  const [assertion, ...others] = allNamed(root, 'Assertion', 'EncryptedAssertion');
  const isChild = assertion?.namespace === ASSERTION && root.children.includes(assertion);
  if (!isChild || others.length > 0) throw new RefusedLogin(REASONS.assertions);
  checkSignatures(root, expected);
  const isEncrypted = assertion.name === 'EncryptedAssertion';
  if (isEncrypted) checkEncryption(assertion);
  else checkAssertion(assertion, expected);
  return { isEncrypted };
}

/** Checks an assertion that was encrypted, like one that was not. @throws RefusedLogin with the reason */
export function checkDecrypted(root: XmlElement, expected: ExpectedResponse): void {
  if (root.namespace !== ASSERTION || allNamed(root, 'Assertion', 'EncryptedAssertion').length !== 1)
    throw new RefusedLogin(REASONS.assertions);
  checkSignatures(root, expected);
  checkAssertion(root, expected);
}

/** Some providers repeat the address as somebody has pasted it, with spaces. */
function isAddress(text: string | undefined, { address }: ExpectedResponse): boolean {
  return text?.trim() === address;
}

function checkStatus(root: XmlElement): void {
  const [code] = childrenOf(root, PROTOCOL, 'Status').flatMap((status) =>
    childrenOf(status, PROTOCOL, 'StatusCode'),
  );
  const value = code?.attributes['Value'] ?? '';
  if (value === `${STATUS}Success`) return;
  const [detail] = code ? childrenOf(code, PROTOCOL, 'StatusCode') : [];
  const name = (detail?.attributes['Value'] ?? value).replace(STATUS, '');
  const shown = /^\w{1,64}$/.test(name) ? name : 'without a known status';
  throw new RefusedLogin(`The identity provider refused the login (${shown}).`);
}

/** Checks the signatures of the response and the assertion, and that there are no others. */
function checkSignatures(root: XmlElement, { certificates }: ExpectedResponse): void {
  const signatures = allNamed(root, 'Signature');
  if (signatures.length > 2) throw new RefusedLogin(REASONS.signatures);
  for (const signature of signatures) {
    if (signature.namespace !== SIGNATURE) throw new RefusedLogin(REASONS.signatures);
    for (const [name, allowed] of Object.entries(ALGORITHMS))
      for (const { attributes } of allNamed(signature, name))
        requireAllowed(attributes['Algorithm'], allowed);
    const isLarge = sizeOf(signature) > MAX_SIGNATURE_ELEMENTS;
    if (isLarge || allNamed(signature, 'Reference').length !== 1) throw new RefusedLogin(REASONS.signatures);
    for (const { attributes } of allNamed(signature, 'InclusiveNamespaces'))
      if ((attributes['PrefixList'] ?? '').length > MAX_PREFIX_LIST_LENGTH)
        throw new RefusedLogin(REASONS.signatures);
    const sent = allNamed(signature, 'X509Certificate');
    if (sent.length > MAX_CERTIFICATES) throw new RefusedLogin(REASONS.signatures);
    const used = sent.map(({ text }) => readCertificate(text)?.encoded);
    if (used.length > 0 && !used.some((each) => each !== undefined && certificates.includes(each)))
      throw new RefusedLogin(REASONS.unknownCertificate);
  }
}

function sizeOf({ children }: XmlElement): number {
  return children.reduce((sum, child) => sum + sizeOf(child), 1);
}

/** The last part of the URI of an algorithm is its name, such as `rsa-sha1`. */
function requireAllowed(algorithm = '', allowed: ReadonlySet<string>): void {
  if (allowed.has(algorithm)) return;
  const [name = 'unknown'] = /[\w-]{1,40}$/.exec(algorithm) ?? [];
  throw new RefusedLogin(
    `The response is signed or encrypted with an algorithm that is not allowed (${name}). Use RSA with SHA-256, and RSA-OAEP with AES.`,
  );
}

function checkEncryption(assertion: XmlElement): void {
  for (const { attributes } of allNamed(assertion, 'EncryptionMethod'))
    requireAllowed(attributes['Algorithm'], ENCRYPTION);
}

function checkAssertion(assertion: XmlElement, { issuer }: ExpectedResponse): void {
  if (childrenOf(assertion, SIGNATURE, 'Signature').length !== 1) throw new RefusedLogin(REASONS.unsigned);
  const issuers = childrenOf(assertion, ASSERTION, 'Issuer');
  if (issuers.length !== 1 || issuers[0]?.text.trim() !== issuer) throw new RefusedLogin(REASONS.issuer);
}

/**
 * Reads the assertion from the bytes that its signature covers. The library has checked the signature, the audience and the
 * period in which it is valid.
 *
 * @throws RefusedLogin with the reason
 */
export function readAssertion(assertion: XmlElement, expected: ExpectedResponse, now: Date): SignedAssertion {
  const below = (element: XmlElement | undefined, name: string): XmlElement[] =>
    element ? childrenOf(element, ASSERTION, name) : [];
  const [issuer] = below(assertion, 'Issuer');
  if (issuer?.text.trim() !== expected.issuer) throw new RefusedLogin(REASONS.issuer);
  const [subject] = below(assertion, 'Subject');
  checkConfirmation(
    below(subject, 'SubjectConfirmation')
      .filter(({ attributes }) => attributes['Method'] === BEARER)
      .flatMap((confirmation) => below(confirmation, 'SubjectConfirmationData')),
    expected,
    now,
  );
  const [nameId, ...others] = below(subject, 'NameID');
  const text = nameId?.text.trim() ?? '';
  if (text === '' || text.length > MAX_NAME_ID_LENGTH || others.length > 0)
    throw new RefusedLogin(REASONS.nameId);
  const format = nameId?.attributes['Format'] ?? '';
  if (format.endsWith(`${NAME_ID_FORMATS}transient`)) throw new RefusedLogin(REASONS.transient);
  const statements = below(assertion, 'AuthnStatement');
  const authenticatedAt = new Date(statements[0]?.attributes['AuthnInstant'] ?? '');
  if (Number.isNaN(authenticatedAt.getTime())) throw new RefusedLogin(REASONS.session);
  const ends = statements.flatMap(({ attributes: { SessionNotOnOrAfter: end } }) =>
    end === undefined ? [] : new Date(end).getTime(),
  );
  const attributes = new Map<string, string[]>();
  for (const attribute of below(assertion, 'AttributeStatement').flatMap((each) =>
    below(each, 'Attribute'),
  )) {
    const name = attribute.attributes['Name'] ?? '';
    const values = below(attribute, 'AttributeValue').map((value) => value.text.trim());
    attributes.set(name, [...(attributes.get(name) ?? []), ...values]);
  }
  return {
    nameId: text,
    nameIdFormat: format.slice(format.lastIndexOf(':') + 1),
    authenticatedAt,
    sessionEndsAt: ends.length === 0 ? undefined : new Date(Math.min(...ends)),
    attributes: Object.fromEntries(attributes),
  };
}

/** SAML 2.0 profiles, section 4.1.4.2: one confirmation must be for this login, this address and this moment. */
function checkConfirmation(
  confirmations: readonly XmlElement[],
  expected: ExpectedResponse,
  now: Date,
): void {
  const { requestId } = expected;
  const ours = confirmations.filter(({ attributes }) => attributes['InResponseTo'] === requestId);
  if (ours.length === 0) throw new RefusedLogin(REASONS.subject);
  const here = ours.filter(({ attributes }) => isAddress(attributes['Recipient'], expected));
  if (here.length === 0) throw new RefusedLogin(REASONS.recipient);
  const isCurrent = here.some(
    ({ attributes }) =>
      now.getTime() < new Date(attributes['NotOnOrAfter'] ?? '').getTime() + PROVIDER_CLOCK_TOLERANCE,
  );
  if (!isCurrent) throw new RefusedLogin(EXPIRED);
}

/** Returns the reason in words for an error of the library. */
export function reasonOfLibrary(message: string): string {
  if (/not yet valid/.test(message))
    return `The assertion is not valid yet: the clock of the identity provider differs by more than ${PROVIDER_CLOCK_TOLERANCE / SECOND} seconds.`;
  if (/expired|subject confirmation/.test(message)) return EXPIRED;
  if (/audience/i.test(message))
    return 'The assertion is meant for another service (the Audience is not our entity ID).';
  if (/signature/i.test(message)) return REASONS.changed;
  return 'The response of the identity provider is not valid.';
}
