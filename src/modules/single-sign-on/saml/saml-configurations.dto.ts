import {
  BooleanProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../../infrastructure/openapi/index.js';
import { TextField } from '../../../infrastructure/validation/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { readCertificate } from './saml-metadata.js';

/** Created with `openssl req -x509`. Nobody has the private key. */
const EXAMPLE_CERTIFICATE =
  'MIIBMTCB1wIUYwQRsynxIjBpQsCDQOcobtF+WXIwCgYIKoZIzj0EAwIwGjEYMBYGA1UEAwwPaWRwLmV4YW1wbGUuY2' +
  '9tMCAXDTI2MTEyMjE3MTExMVoYDzIxMjYxMDI5MTcxMTExWjAaMRgwFgYDVQQDDA9pZHAuZXhhbXBsZS5jb20wWTAT' +
  'BgcqhkjOPQIBBggqhkjOPQMBBwNCAARNKoTP2vzpme24lBbRrIy8DktCNAPoTtg1M5VUhZr+wIqn9CAZtwhSxjG26S' +
  'FaQ0GtdZAa3ru2oyKCpM+Q7LJ2MAoGCCqGSM49BAMCA0kAMEYCIQDh36p0ZWgN8OT4Qpr6WyZhOroSrYZ+gmngP+Ax' +
  '5nCNdwIhAKT6if0F2OPyJA7BZ5znlKXMYKFbHmoM+Tjepy87norW';

/** What the service reads from the certificate. */
const EXAMPLE_CERTIFICATE_FIELDS = {
  subject: 'CN=idp.example.com',
  sha256_fingerprint:
    '7E:2E:7E:DB:E1:D2:37:A4:3F:56:C9:67:27:FC:F2:BF:BA:96:2D:A8:11:2F:DA:85:C6:DB:B4:97:9B:3C:30:09',
  valid_from: '2026-11-22T17:11:11.000Z',
  valid_to: '2126-10-29T17:11:11.000Z',
};

/** Metadata that the service accepts, although no identity provider has it. */
const EXAMPLE_METADATA =
  '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.com">' +
  '<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing">' +
  '<KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>' +
  EXAMPLE_CERTIFICATE +
  '</X509Certificate></X509Data></KeyInfo></KeyDescriptor><SingleSignOnService ' +
  'Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example.com/sso"/>' +
  '</IDPSSODescriptor></EntityDescriptor>';

const NAME_LENGTH = 256;
/** Characters. Real metadata has 5,000 to 20,000. */
const METADATA_LENGTH = 262_144;

const NAME = { max: NAME_LENGTH, description: 'Your name for the configuration.', example: 'Okta' };
const METADATA = {
  max: METADATA_LENGTH,
  description: 'The SAML 2.0 metadata of the identity provider.',
};

export class CreateSamlConfigurationRequest {
  @TextField(NAME)
  name!: string;

  @TextField({ ...METADATA, example: EXAMPLE_METADATA })
  metadata_xml!: string;
}

export class UpdateSamlConfigurationRequest {
  @TextField({ ...NAME, required: false })
  name?: string;

  @TextField({ ...METADATA, required: false })
  metadata_xml?: string;
}

const METADATA_URL = {
  max: 2_048,
  required: false,
  description: 'Where the metadata is fetched, now and every day.',
  example: 'https://idp.example.com/metadata',
} as const;

/** The form that adds an identity provider: with its metadata, or with their URL. */
export class AddSamlConfigurationRequest {
  @TextField(NAME)
  name!: string;

  @TextField(METADATA_URL)
  metadata_url?: string;

  @TextField({ ...METADATA, required: false })
  metadata_xml?: string;
}

/** The form that changes an identity provider. */
export class ChangeSamlConfigurationRequest extends UpdateSamlConfigurationRequest {
  @TextField(METADATA_URL)
  metadata_url?: string;
}

export const EXAMPLE_ID = '3f2f6c1e-5d1b-4f0f-9f4e-0c7f2f1d8b3a';
export class SamlCertificateResponse {
  @TextProperty('Subject of the certificate.', EXAMPLE_CERTIFICATE_FIELDS.subject, { minLength: 1 })
  subject!: string;

  @TextProperty(
    'SHA-256 fingerprint of the certificate. Compare it with the one your identity provider shows.',
    EXAMPLE_CERTIFICATE_FIELDS.sha256_fingerprint,
    { pattern: '^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$' },
  )
  sha256_fingerprint!: string;

  @TimestampProperty('Start of the validity period.', EXAMPLE_CERTIFICATE_FIELDS.valid_from)
  valid_from!: Date;

  @TimestampProperty('End of the validity period.', EXAMPLE_CERTIFICATE_FIELDS.valid_to)
  valid_to!: Date;
}

export class SamlConfigurationResponse {
  @UuidProperty('ID of the configuration.', EXAMPLE_ID)
  id!: string;

  @TextProperty('Your name for the configuration.', 'Okta', { minLength: 1, maxLength: 256 })
  name!: string;

  @TextProperty('The `entityID` of the identity provider.', 'https://idp.example.com', {
    minLength: 1,
    maxLength: 1024,
  })
  entity_id!: string;

  @TextProperty('Where users are redirected to log in.', 'https://idp.example.com/sso', { format: 'uri' })
  sso_url!: string;

  @ObjectProperty(
    [SamlCertificateResponse],
    'The signing certificates. Unusable certificates of the metadata are omitted.',
  )
  certificates!: SamlCertificateResponse[];

  @BooleanProperty('Whether the configuration is enabled.', false)
  enabled!: boolean;

  @TimestampProperty('When the configuration was added.')
  created_at!: Date;
}

/** Returns what people compare, or nothing if it is not a certificate. @param encoded DER in base64 */
export function certificateOf(encoded: string): SamlCertificateResponse[] {
  const certificate = readCertificate(encoded);
  if (!certificate) return [];
  const { subject, fingerprint, validFrom, validTo } = certificate;
  return [{ subject, sha256_fingerprint: fingerprint, valid_from: validFrom, valid_to: validTo }];
}

export function certificatesOf({ certificates }: SsoConfiguration): SamlCertificateResponse[] {
  return certificates.flatMap(certificateOf);
}

export function toSamlResponse(configuration: SsoConfiguration): SamlConfigurationResponse {
  return {
    id: configuration.id,
    name: configuration.name,
    entity_id: configuration.entityId,
    sso_url: configuration.ssoUrl,
    certificates: certificatesOf(configuration),
    enabled: configuration.enabledAt !== null,
    created_at: configuration.createdAt,
  };
}
