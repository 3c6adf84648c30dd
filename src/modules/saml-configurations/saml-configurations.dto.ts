import { ApiProperty } from '@nestjs/swagger';
import { TextField } from '../../infrastructure/validation/index.js';

const NAME_LENGTH = 256;
/** Characters. Real metadata has 5,000 to 20,000. */
const METADATA_LENGTH = 262_144;

const EXAMPLE_METADATA =
  '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.com">…';

const NAME = { max: NAME_LENGTH, description: 'Your name for the configuration.', example: 'Okta' };
const METADATA = {
  max: METADATA_LENGTH,
  description: 'The SAML 2.0 metadata of the identity provider.',
  example: EXAMPLE_METADATA,
};

export class CreateSamlConfigurationRequest {
  @TextField(NAME)
  name!: string;

  @TextField(METADATA)
  metadata_xml!: string;
}

export class UpdateSamlConfigurationRequest {
  @TextField({ ...NAME, required: false })
  name?: string;

  @TextField({ ...METADATA, required: false })
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
  @ApiProperty({ type: String, description: 'Subject of the certificate.', example: 'CN=idp.example.com' })
  subject!: string;

  @ApiProperty({
    type: String,
    description:
      'SHA-256 fingerprint of the certificate. Compare it with the one your identity provider shows.',
    example: EXAMPLE_CONFIGURATION.certificates[0]?.sha256_fingerprint,
  })
  sha256_fingerprint!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Start of the validity period.',
    example: '2025-06-01T00:00:00.000Z',
  })
  valid_from!: Date;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'End of the validity period.',
    example: '2028-06-01T00:00:00.000Z',
  })
  valid_to!: Date;
}

export class SamlConfigurationResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the configuration.',
    example: EXAMPLE_CONFIGURATION.id,
  })
  id!: string;

  @ApiProperty({ type: String, description: 'Your name for the configuration.', example: 'Okta' })
  name!: string;

  @ApiProperty({
    type: String,
    description: 'The `entityID` of the identity provider.',
    example: EXAMPLE_CONFIGURATION.entity_id,
  })
  entity_id!: string;

  @ApiProperty({
    type: String,
    description: 'Where users are redirected to log in.',
    example: EXAMPLE_CONFIGURATION.sso_url,
  })
  sso_url!: string;

  @ApiProperty({
    type: [SamlCertificateResponse],
    description: 'The signing certificates. Unusable certificates of the metadata are omitted.',
  })
  certificates!: SamlCertificateResponse[];

  @ApiProperty({ type: Boolean, description: 'Whether the configuration is enabled.', example: false })
  enabled!: boolean;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the configuration was added.',
    example: EXAMPLE_CONFIGURATION.created_at,
  })
  created_at!: Date;
}
