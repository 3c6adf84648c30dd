import {
  BooleanProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../infrastructure/openapi/index.js';
import { TextField } from '../../infrastructure/validation/index.js';
import { EXAMPLE_CERTIFICATE_FIELDS, EXAMPLE_METADATA } from './example-metadata.js';

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
