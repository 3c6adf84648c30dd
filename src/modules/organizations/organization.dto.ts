import { ApiProperty } from '@nestjs/swagger';
import { Field, isString, type Rule } from '../../infrastructure/validation/index.js';
import { decodeBase64, MAX_LOGO_BYTES, LOGO_MEDIA_TYPES, mediaTypeOf, type LogoMediaType } from './logo.js';

const isBase64: Rule = (value, { words }) =>
  decodeBase64(value as string) === undefined ? `The ${words} field must be base64.` : undefined;

const isNotTooLarge: Rule = (value, { words }) =>
  (decodeBase64(value as string)?.length ?? 0) > MAX_LOGO_BYTES
    ? `The ${words} field must not be greater than ${MAX_LOGO_BYTES} bytes.`
    : undefined;

const isImage: Rule = (value, { words }) =>
  mediaTypeOf(decodeBase64(value as string) ?? Buffer.alloc(0)) === undefined
    ? `The ${words} field must be a PNG, JPEG or WebP image.`
    : undefined;

export class UpdateLogoRequest {
  @Field({
    rules: [isString, isBase64, isNotTooLarge, isImage],
    document: {
      type: String,
      description: `A PNG, JPEG or WebP image of at most ${MAX_LOGO_BYTES} bytes, in base64.`,
      example: 'iVBORw0KGgo=',
    },
  })
  image!: string;
}

export class OrganizationResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the organization.',
    example: '1f0f6a7c-2d1e-4b6f-8a3c-9d5e7f1a2b3c',
  })
  organization_id!: string;

  @ApiProperty({ type: String, description: 'Name of the organization.', example: 'Example organization' })
  name!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the organization was activated; null when it was not.',
    example: '2026-01-31T08:15:30.123Z',
  })
  activated_at!: Date | null;

  @ApiProperty({ type: Boolean, description: 'Whether the organization has a logo.', example: true })
  has_logo!: boolean;

  @ApiProperty({
    type: String,
    enum: [...LOGO_MEDIA_TYPES, null],
    nullable: true,
    description: 'Media type of the logo; null when there is none.',
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
