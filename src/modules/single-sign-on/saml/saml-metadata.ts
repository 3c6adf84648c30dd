import { X509Certificate, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiError, INVALID_FIELD, type FieldProblem } from '../../../infrastructure/errors/index.js';
import { parsedUrl } from '../../../infrastructure/config/index.js';
import { fieldError, hasAtMostCharacters } from '../../../infrastructure/validation/index.js';
import { HttpClient } from '../../../infrastructure/http-client/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { MAX_ADDRESS_LENGTH } from '../identity-provider.js';
import type { SsoConfiguration } from '../sso-configuration.entity.js';
import { childrenOf, XML_LIMITS, type XmlElement, type XmlProblem } from './xml.js';
import { SamlWorker } from './saml-worker.js';

/** The properties of an identity provider that the service uses. The certificates are strong and not expired. */
type SamlMetadata = Pick<SsoConfiguration, 'entityId' | 'ssoUrl' | 'ssoBinding' | 'certificates'>;

/** A certificate, with the properties that users compare with those that their identity provider shows. */
export interface SigningCertificate {
  /** DER in base64. */
  readonly encoded: string;
  readonly subject: string;
  /** SHA-256. */
  readonly fingerprint: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** Whether signatures of its key can be verified, and are strong. */
  readonly isStrong: boolean;
}

const MIN_RSA_BITS = 2_048;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
/** In order of preference. */
const BINDINGS = [
  'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
];
/** Each certificate makes checking a response slower. */
export const MAX_CERTIFICATES = 10;
/** SAML 2.0 metadata, section 2.2.1. */
const MAX_ENTITY_ID_LENGTH = 1_024;

/** The document is called by the field that it can be entered in, also if it was fetched. */
function aboutXml(rule: string): FieldProblem {
  const field = 'metadata_xml';
  return { field, rule: (_field, _limit, xml) => `The ${xml} field must ${rule}`, other: field };
}

export const METADATA_ERRORS = {
  xml: aboutXml('be well-formed XML without a document type.'),
  references: aboutXml(
    `not have more than ${XML_LIMITS.replacements} character references and carriage returns.`,
  ),
  complexity: aboutXml(
    `not have more than ${XML_LIMITS.elements} elements, ${XML_LIMITS.attributes} attributes, ` +
      `${XML_LIMITS.declarations} namespace declarations or ${XML_LIMITS.depth} levels.`,
  ),
  descriptor: aboutXml('contain a SAML 2.0 EntityDescriptor.'),
  several: aboutXml('describe one identity provider, and describes several.'),
  entityId: `The EntityDescriptor must have an entityID of 1 to ${MAX_ENTITY_ID_LENGTH} characters.`,
  provider: 'The EntityDescriptor must describe an identity provider: it has no IDPSSODescriptor.',
  service:
    'The identity provider must have a SingleSignOnService with the binding HTTP-Redirect or HTTP-POST.',
  location: `The Location of the SingleSignOnService must be an https URL of at most ${MAX_ADDRESS_LENGTH} characters.`,
  certificates: `The identity provider must not have more than ${MAX_CERTIFICATES} signing certificates.`,
  noCertificate: 'The identity provider must have a signing certificate.',
  certificate: 'The signing certificate cannot be read.',
  expired: 'The signing certificate has expired.',
  key: 'The key of the signing certificate must be RSA of at least 2048 bits: the service cannot verify signatures with elliptic curves or RSA-PSS. Choose an RSA certificate at the identity provider.',
} as const;

/**
 * Reads the metadata of an identity provider.
 *
 * @param root what `parseXml` returned
 * @throws ApiError INVALID_FIELD with the reason
 */
export function readSamlMetadata(root: XmlElement | XmlProblem, now: Date): SamlMetadata {
  if (root === 'malformed') throw fieldError(METADATA_ERRORS.xml);
  if (root === 'too complex') throw fieldError(METADATA_ERRORS.complexity);
  if (root === 'too many references') throw fieldError(METADATA_ERRORS.references);
  const entity = entityIn(root);
  const entityId = (entity.attributes['entityID'] ?? '').trim();
  if (entityId === '' || !hasAtMostCharacters(entityId, MAX_ENTITY_ID_LENGTH))
    throw INVALID_FIELD.error(METADATA_ERRORS.entityId);
  const [provider] = providersOf(entity);
  if (!provider) throw INVALID_FIELD.error(METADATA_ERRORS.provider);
  return { entityId, ...singleSignOnOf(provider), certificates: certificatesOf(provider, now) };
}

/** Returns the entity that the metadata describe: the root, or the only identity provider in a list of entities. */
function entityIn(root: XmlElement): XmlElement {
  const entities = entitiesIn(root);
  const providers = entities.filter((entity) => providersOf(entity).length > 0);
  const [entity] = [...providers, ...entities];
  if (!entity) throw fieldError(METADATA_ERRORS.descriptor);
  if (providers.length > 1) throw fieldError(METADATA_ERRORS.several);
  return entity;
}

/** Returns the entities of a list, which may contain lists (SAML 2.0 metadata, section 2.3.1), or the entity that is the root. */
function entitiesIn(element: XmlElement): XmlElement[] {
  if (element.namespace !== METADATA) return [];
  if (element.name === 'EntitiesDescriptor') return element.children.flatMap(entitiesIn);
  return element.name === 'EntityDescriptor' ? [element] : [];
}

function providersOf(entity: XmlElement): XmlElement[] {
  return childrenOf(entity, METADATA, 'IDPSSODescriptor');
}

function singleSignOnOf(provider: XmlElement): Pick<SamlMetadata, 'ssoUrl' | 'ssoBinding'> {
  const services = childrenOf(provider, METADATA, 'SingleSignOnService');
  const usable = BINDINGS.flatMap((binding) =>
    services.filter(({ attributes }) => attributes['Binding'] === binding),
  );
  if (usable.length === 0) throw INVALID_FIELD.error(METADATA_ERRORS.service);
  for (const { attributes } of usable) {
    const { Location: ssoUrl = '', Binding: ssoBinding = '' } = attributes;
    const isHttps = /^https:\/\/\S+$/i.test(ssoUrl) && parsedUrl(ssoUrl) !== undefined;
    if (isHttps && ssoUrl.length <= MAX_ADDRESS_LENGTH) return { ssoUrl, ssoBinding };
  }
  throw INVALID_FIELD.error(METADATA_ERRORS.location);
}

/**
 * Returns the usable certificates. Identity providers list several certificates during a rotation. Those that cannot be
 * used are ignored if at least one can be used.
 */
function certificatesOf(provider: XmlElement, now: Date): string[] {
  const encoded = childrenOf(provider, METADATA, 'KeyDescriptor')
    // A key without a use serves all uses (SAML 2.0 metadata, section 2.4.1.1).
    .filter(({ attributes }) => (attributes['use'] ?? 'signing') === 'signing')
    .flatMap((key) => childrenOf(key, SIGNATURE, 'KeyInfo'))
    .flatMap((information) => childrenOf(information, SIGNATURE, 'X509Data'))
    .flatMap((data) => childrenOf(data, SIGNATURE, 'X509Certificate'));
  if (encoded.length > MAX_CERTIFICATES) throw INVALID_FIELD.error(METADATA_ERRORS.certificates);
  const found = encoded.map(({ text }) => readCertificate(text));
  const usable = found.flatMap((certificate) =>
    certificate && validateCertificate(certificate, now) === undefined ? [certificate.encoded] : [],
  );
  if (usable.length > 0) return [...new Set(usable)];
  if (found.length === 0) throw INVALID_FIELD.error(METADATA_ERRORS.noCertificate);
  throw INVALID_FIELD.error(validateCertificate(found[0], now));
}

/** Returns why a certificate cannot be used at this time; undefined when it can. */
export function validateCertificate(
  certificate: SigningCertificate | undefined,
  now: Date,
): string | undefined {
  if (!certificate) return METADATA_ERRORS.certificate;
  if (!certificate.isStrong) return METADATA_ERRORS.key;
  return certificate.validTo < now ? METADATA_ERRORS.expired : undefined;
}

/** The lines of a PEM file around the base64, which some providers leave. */
const PEM_LINES = /-----(?:BEGIN|END) CERTIFICATE-----/g;

/**
 * Reads a certificate from metadata: base64 with line breaks anywhere.
 *
 * @returns undefined when the text is not a certificate, or its validity is not a date
 */
export function readCertificate(text: string): SigningCertificate | undefined {
  const encoded = text.replaceAll(PEM_LINES, '').replaceAll(/\s/g, '');
  if (!BASE64.test(encoded)) return undefined;
  try {
    const certificate = new X509Certificate(Buffer.from(encoded, 'base64'));
    const validFrom = new Date(certificate.validFrom);
    const validTo = new Date(certificate.validTo);
    if (Number.isNaN(validFrom.getTime()) || Number.isNaN(validTo.getTime())) return undefined;
    return {
      encoded: certificate.raw.toString('base64'),
      subject: (certificate.subject ?? '').replaceAll('\n', ', '),
      fingerprint: certificate.fingerprint256,
      validFrom,
      validTo,
      isStrong: isStrong(certificate.publicKey),
    };
  } catch {
    return undefined;
  }
}

/** The library verifies RSA with PKCS #1 v1.5 only, and has no option for other algorithms. */
function isStrong({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
}

/** Bytes. */
const MAX_SIZE = 262_144;
const DEADLINE = 5 * SECOND;

const URL_AND_METADATA =
  'Enter the metadata or its URL, not both. Metadata without a URL is not fetched every day: to use it anyway, empty the field of the URL.';

type ReadMetadata = SamlMetadata &
  Pick<SsoConfiguration, 'metadataXml' | 'metadataUrl' | 'metadataCheckedAt'>;

/** Reads the metadata of identity providers, which is pasted or fetched. */
@Injectable()
export class SamlMetadataReader {
  constructor(
    private readonly http: HttpClient,
    private readonly worker: SamlWorker,
    private readonly clock: Clock,
  ) {}

  /** @returns undefined without metadata and URL. @throws ApiError INVALID_FIELD with the reason */
  async read(
    organizationId: string,
    from: { readonly metadata_xml?: string | undefined; readonly metadata_url?: string | undefined },
  ): Promise<ReadMetadata | undefined> {
    const { metadata_xml: xml, metadata_url: url } = from;
    const field = xml === undefined ? 'metadata_url' : 'metadata_xml';
    return this.readAll(organizationId, xml, url).catch((error: unknown) => {
      throw error instanceof ApiError
        ? INVALID_FIELD.error(error.message, { ...error.options, field })
        : error;
    });
  }

  private async readAll(
    organizationId: string,
    xml?: string,
    url?: string,
  ): Promise<ReadMetadata | undefined> {
    // Metadata that are pasted would end the daily requests to the URL.
    if (xml !== undefined && url !== undefined) throw INVALID_FIELD.error(URL_AND_METADATA);
    const metadataXml = xml ?? (url === undefined ? undefined : await this.fetch(url));
    if (metadataXml === undefined) return undefined;
    const now = this.clock.now();
    const isFetched = xml === undefined;
    return {
      ...readSamlMetadata(await this.worker.run(organizationId, 'parse', metadataXml), now),
      metadataXml,
      metadataUrl: isFetched ? (url ?? null) : null,
      metadataCheckedAt: isFetched ? now : null,
    };
  }

  private async fetch(url: string): Promise<string> {
    const { text, problem } = await this.http.getDocument({
      url,
      headers: { accept: 'application/samlmetadata+xml, application/xml, text/xml' },
      maxBytes: MAX_SIZE,
      deadline: DEADLINE,
    });
    if (text && problem === null) return text.text;
    throw INVALID_FIELD.error(`The metadata cannot be fetched. ${problem}`);
  }
}
