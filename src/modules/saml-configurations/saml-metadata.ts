import { parsedUrl } from '../../infrastructure/urls/index.js';
import { readCertificate, type SigningCertificate } from './signing-certificate.js';
import { parseXml, type XmlElement } from './xml-element.js';

/** What the service needs to know of an identity provider. */
export interface SamlMetadata {
  readonly entityId: string;
  readonly ssoUrl: string;
  readonly ssoBinding: string;
  /** Those that may sign, DER in base64: strong, and not expired when they were read. */
  readonly certificates: readonly string[];
}

/** The metadata breaks a rule; the message says which. */
export class MetadataProblem extends Error {}

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
/** In the order in which we would use them. */
const BINDINGS = [
  'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
];
/** SAML 2.0 metadata, section 2.2.1. */
const MAX_ENTITY_ID_LENGTH = 1_024;

export const METADATA_PROBLEMS = {
  xml: 'The metadata xml field must be well-formed XML without a document type.',
  descriptor: 'The metadata xml field must hold a SAML 2.0 EntityDescriptor.',
  entityId: `The EntityDescriptor must have an entityID of 1 to ${MAX_ENTITY_ID_LENGTH} characters.`,
  provider: 'The EntityDescriptor must describe an identity provider: it has no IDPSSODescriptor.',
  service:
    'The identity provider must have a SingleSignOnService with the binding HTTP-Redirect or HTTP-POST.',
  location: 'The Location of the SingleSignOnService must be an https URL.',
  noCertificate: 'The identity provider must have a signing certificate.',
  certificate: 'The signing certificate cannot be read.',
  expired: 'The signing certificate has expired.',
  key: 'The key of the signing certificate must be RSA of at least 2048 bits, or EC on P-256, P-384 or P-521.',
} as const;

/**
 * Reads the metadata of an identity provider.
 *
 * @throws MetadataProblem
 */
export function readSamlMetadata(xml: string, now: Date): SamlMetadata {
  const root = parseXml(xml);
  if (!root) throw new MetadataProblem(METADATA_PROBLEMS.xml);
  if (root.namespace !== METADATA || root.name !== 'EntityDescriptor')
    throw new MetadataProblem(METADATA_PROBLEMS.descriptor);
  const entityId = (root.attributes['entityID'] ?? '').trim();
  if (entityId === '' || [...entityId].length > MAX_ENTITY_ID_LENGTH)
    throw new MetadataProblem(METADATA_PROBLEMS.entityId);
  const [provider] = childrenOf(root, METADATA, 'IDPSSODescriptor');
  if (!provider) throw new MetadataProblem(METADATA_PROBLEMS.provider);
  return { entityId, ...singleSignOnOf(provider), certificates: certificatesOf(provider, now) };
}

function childrenOf(element: XmlElement, namespace: string, name: string): XmlElement[] {
  return element.children.filter((child) => child.namespace === namespace && child.name === name);
}

function singleSignOnOf(provider: XmlElement): Pick<SamlMetadata, 'ssoUrl' | 'ssoBinding'> {
  const services = childrenOf(provider, METADATA, 'SingleSignOnService');
  const usable = BINDINGS.flatMap((binding) =>
    services.filter(({ attributes }) => attributes['Binding'] === binding),
  );
  if (usable.length === 0) throw new MetadataProblem(METADATA_PROBLEMS.service);
  for (const { attributes } of usable) {
    const { Location: ssoUrl = '', Binding: ssoBinding = '' } = attributes;
    if (isHttps(ssoUrl)) return { ssoUrl, ssoBinding };
  }
  throw new MetadataProblem(METADATA_PROBLEMS.location);
}

function isHttps(text: string): boolean {
  return /^https:\/\/\S+$/i.test(text) && parsedUrl(text) !== undefined;
}

/**
 * Identity providers list several while they change from one to the next: those that cannot be used are left
 * out, as long as one can.
 */
function certificatesOf(provider: XmlElement, now: Date): string[] {
  const found = childrenOf(provider, METADATA, 'KeyDescriptor')
    // Without a use, a key is for all (SAML 2.0 metadata, section 2.4.1.1).
    .filter(({ attributes }) => (attributes['use'] ?? 'signing') === 'signing')
    .flatMap((key) => childrenOf(key, SIGNATURE, 'KeyInfo'))
    .flatMap((information) => childrenOf(information, SIGNATURE, 'X509Data'))
    .flatMap((data) => childrenOf(data, SIGNATURE, 'X509Certificate'))
    .map(({ text }) => readCertificate(text));
  const usable = found.flatMap((certificate) =>
    certificate && problemOf(certificate, now) === undefined ? [certificate.encoded] : [],
  );
  if (usable.length > 0) return [...new Set(usable)];
  if (found.length === 0) throw new MetadataProblem(METADATA_PROBLEMS.noCertificate);
  throw new MetadataProblem(problemOf(found[0], now));
}

/** What speaks against a certificate at this time; undefined when nothing does. */
export function problemOf(certificate: SigningCertificate | undefined, now: Date): string | undefined {
  if (!certificate) return METADATA_PROBLEMS.certificate;
  if (!certificate.isStrong) return METADATA_PROBLEMS.key;
  return certificate.validTo < now ? METADATA_PROBLEMS.expired : undefined;
}
