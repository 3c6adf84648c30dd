import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { TextField, withMessage } from '../../infrastructure/validation/index.js';
import { decodeBase64, MAX_LOGO_BYTES, LOGO_MEDIA_TYPES, mediaTypeOf, type LogoMediaType } from './logo.js';

/** A constraint on the bytes of base64 text; undefined if the text is not base64. */
function IsImageThat(
  name: string,
  test: (image: Buffer | undefined) => boolean,
  message: (field: string) => string,
): PropertyDecorator {
  const validate = (value: unknown): boolean => test(decodeBase64(value as string));
  return ValidateBy({ name, validator: { validate } }, withMessage(message));
}

export class UpdateLogoRequest {
  @TextField(
    {
      min: 0,
      description: `A PNG, JPEG or WebP image of at most ${MAX_LOGO_BYTES} bytes, in base64.`,
      example: 'iVBORw0KGgo=',
    },
    IsImageThat(
      'isBase64',
      (image) => image !== undefined,
      (field) => `The ${field} field must be base64.`,
    ),
    IsImageThat(
      'isNotTooLarge',
      (image) => (image?.length ?? 0) <= MAX_LOGO_BYTES,
      (field) => `The ${field} field must not be greater than ${MAX_LOGO_BYTES} bytes.`,
    ),
    IsImageThat(
      'isImage',
      (image) => image !== undefined && mediaTypeOf(image) !== undefined,
      (field) => `The ${field} field must be a PNG, JPEG or WebP image.`,
    ),
  )
  image!: string;
}

export class OrganizationResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the organization.',
    example: '1f0f6a7c-2d1e-4b6f-8a3c-9d5e7f1a2b3c',
  })
  organization_id!: string;

  @ApiProperty({ type: String, description: 'Name of the organization.', example: 'Example organization' })
  name!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the organization was activated; null if it is not activated.',
    example: '2026-01-31T08:15:30.123Z',
  })
  activated_at!: Date | null;

  @ApiProperty({ type: Boolean, description: 'Whether the organization has a logo.', example: true })
  has_logo!: boolean;

  @ApiProperty({
    type: String,
    enum: [...LOGO_MEDIA_TYPES, null],
    nullable: true,
    description: 'Media type of the logo; null if there is no logo.',
    example: 'image/png',
  })
  logo_media_type!: LogoMediaType | null;
}

export const EXAMPLE_ORGANIZATION = {
  organization_id: '1f0f6a7c-2d1e-4b6f-8a3c-9d5e7f1a2b3c',
  name: 'Example organization',
  activated_at: '2026-01-31T08:15:30.123Z',
  has_logo: true,
  logo_media_type: 'image/png',
};
