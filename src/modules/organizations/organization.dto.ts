import {
  BooleanProperty,
  EnumProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../infrastructure/openapi/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import {
  BooleanField,
  Constraint,
  IntegerField,
  TextField,
  withMessage,
} from '../../infrastructure/validation/index.js';
import { decodeBase64, MAX_LOGO_BYTES, LOGO_MEDIA_TYPES, mediaTypeOf, type LogoMediaType } from './logo.js';

const LOGO_MEDIA_TYPE = enumeration('LogoMediaType', LOGO_MEDIA_TYPES, 'Media type of a logo.');

/** A constraint on the bytes of base64 text; undefined if the text is not base64. */
function IsImageThat(
  name: string,
  test: (image: Buffer | undefined) => boolean,
  message: (field: string) => string,
): PropertyDecorator {
  return Constraint(name, (value) => test(decodeBase64(value as string)), withMessage(message));
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

/** Days in which users can set up a second factor before they need it. */
export const DEFAULT_GRACE_DAYS = 7;
const MAX_GRACE_DAYS = 90;

export class UpdateOrganizationRequest {
  @BooleanField({
    description:
      'Whether every user needs two-factor authentication. If it is already required, the date from which it is required ' +
      'stays.',
    example: true,
  })
  require_second_factor!: boolean;

  @IntegerField({
    required: false,
    min: 0,
    max: MAX_GRACE_DAYS,
    default: DEFAULT_GRACE_DAYS,
    description:
      'Days until users without two-factor authentication can only set it up. Used only if it was not required before.',
    example: DEFAULT_GRACE_DAYS,
  })
  grace_period_days: number = DEFAULT_GRACE_DAYS;
}

export class OrganizationResponse {
  @UuidProperty('ID of the organization.', '1f0f6a7c-2d1e-4b6f-8a3c-9d5e7f1a2b3c')
  organization_id!: string;

  @TextProperty('Name of the organization.', 'Example organization', { minLength: 1, maxLength: 256 })
  name!: string;

  @TimestampProperty('When the organization was activated; null if it is not activated.', undefined, {
    nullable: true,
  })
  activated_at!: Date | null;

  @BooleanProperty('Whether the organization has a logo.', true)
  has_logo!: boolean;

  @EnumProperty(LOGO_MEDIA_TYPE, 'Media type of the logo; null if there is no logo.', 'image/png', {
    nullable: true,
  })
  logo_media_type!: LogoMediaType | null;

  @TimestampProperty(
    'From when users without two-factor authentication can only set it up; null if it is not required.',
    undefined,
    { nullable: true },
  )
  second_factor_required_from!: Date | null;
}
