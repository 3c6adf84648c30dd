import { ApiProperty } from '@nestjs/swagger';
import { Field, isString, maximumCharacters } from '../../infrastructure/validation/index.js';

const NAME_LENGTH = 256;
/** Characters; real metadata has 5,000 to 20,000. */
const METADATA_LENGTH = 262_144;

const EXAMPLE_METADATA =
  '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.com">…';

function Name(required: boolean): PropertyDecorator {
  return Field({
    required,
    rules: [isString, maximumCharacters(NAME_LENGTH)],
    document: {
      type: String,
      minLength: 1,
      maxLength: NAME_LENGTH,
      description: 'What you call it.',
      example: 'Okta',
    },
  });
}

function Metadata(required: boolean): PropertyDecorator {
  return Field({
    required,
    rules: [isString, maximumCharacters(METADATA_LENGTH)],
    document: {
      type: String,
      minLength: 1,
      maxLength: METADATA_LENGTH,
      description: 'The SAML 2.0 metadata of the identity provider.',
      example: EXAMPLE_METADATA,
    },
  });
}

export class CreateSamlConfigurationRequest {
  @Name(true)
  name!: string;

  @Metadata(true)
  metadata_xml!: string;
}

export class UpdateSamlConfigurationRequest {
  @Name(false)
  name?: string;

  @Metadata(false)
  metadata_xml?: string;
}

export const EXAMPLE_CONFIGURATION = {
  id: '3f2f6c1e-5d1b-4f0f-9f4e-0c7f2f1d8b3a',
  name: 'Okta',
  entity_id: 'https://idp.example.com',
  sso_url: 'https://idp.example.com/sso',
  certificates: [
    {
      subject: 'CN=idp.example.com',
      sha256_fingerprint:
        '3A:1F:5B:0C:77:0E:2D:94:61:C8:AB:52:9D:30:EF:18:44:6B:D7:C2:05:8E:93:1A:FD:60:27:B9:4C:81:E5:02',
      valid_from: '2025-06-01T00:00:00.000Z',
      valid_to: '2028-06-01T00:00:00.000Z',
    },
  ],
  enabled: false,
  created_at: '2026-01-31T08:15:30.123Z',
};

export class SamlCertificateResponse {
  @ApiProperty({ type: String, description: 'Whose it is.', example: 'CN=idp.example.com' })
  subject!: string;

  @ApiProperty({
    type: String,
    description: 'SHA-256 of the certificate, to compare with your identity provider’s.',
    example: EXAMPLE_CONFIGURATION.certificates[0]?.sha256_fingerprint,
  })
  sha256_fingerprint!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'From when on it is valid.',
    example: '2025-06-01T00:00:00.000Z',
  })
  valid_from!: Date;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Until when it is valid.',
    example: '2028-06-01T00:00:00.000Z',
  })
  valid_to!: Date;
}

export class SamlConfigurationResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the configuration.',
    example: EXAMPLE_CONFIGURATION.id,
  })
  id!: string;

  @ApiProperty({ type: String, description: 'What you call it.', example: 'Okta' })
  name!: string;

  @ApiProperty({
    type: String,
    description: 'The identity provider’s entityID.',
    example: EXAMPLE_CONFIGURATION.entity_id,
  })
  entity_id!: string;

  @ApiProperty({
    type: String,
    description: 'Where people are sent to log in.',
    example: EXAMPLE_CONFIGURATION.sso_url,
  })
  sso_url!: string;

  @ApiProperty({
    type: [SamlCertificateResponse],
    description: 'The certificates that may sign. Those of the metadata that cannot be used are left out.',
  })
  certificates!: SamlCertificateResponse[];

  @ApiProperty({ type: Boolean, description: 'Whether it is enabled.', example: false })
  enabled!: boolean;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When it was added.',
    example: EXAMPLE_CONFIGURATION.created_at,
  })
  created_at!: Date;
}
