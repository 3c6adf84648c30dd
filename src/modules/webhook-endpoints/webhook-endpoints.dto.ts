import { ApiProperty } from '@nestjs/swagger';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  Environment,
  Field,
  isString,
  maximumCharacters,
  type FieldOptions,
} from '../../infrastructure/validation/index.js';
import { MAX_DESCRIPTION_LENGTH, MAX_URL_LENGTH } from './webhook-endpoint-limits.js';

export const EXAMPLE_ENDPOINT = {
  id: 'c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11',
  url: 'https://hooks.example.com/merchants',
  description: 'Card updates',
  environment: 'production',
  created_at: '2026-01-31T08:15:30.123Z',
};

const ENVIRONMENT = 'The environment whose events are sent. Must be that of the access token.';

/** Whether it is a public one depends on settings: the service looks at that. */
function Url(required: boolean): PropertyDecorator {
  return Field({
    required,
    rules: [isString, maximumCharacters(MAX_URL_LENGTH)],
    document: {
      type: String,
      format: 'uri',
      minLength: 1,
      maxLength: MAX_URL_LENGTH,
      description:
        'A public https URL: a host name of the public network, no IP address, no credentials; a port is allowed. ' +
        'Kept and shown as the URL Standard writes it, without a fragment: `https://EXAMPLE.com:443#a` becomes ' +
        '`https://example.com/`.',
      example: EXAMPLE_ENDPOINT.url,
    },
  });
}

/** The rules of a description. The service asks for them behind those of the URL, as the order of fields wants it. */
export const DESCRIPTION_RULES = [isString, maximumCharacters(MAX_DESCRIPTION_LENGTH)];

function Description(options: Pick<FieldOptions, 'clearable'>, more = ''): PropertyDecorator {
  return Field({
    ...options,
    required: false,
    rules: [],
    document: {
      type: String,
      maxLength: MAX_DESCRIPTION_LENGTH,
      description: `What you use it for: at most ${MAX_DESCRIPTION_LENGTH} characters.${more}`,
      example: EXAMPLE_ENDPOINT.description,
    },
  });
}

export class WebhookEndpointsQuery {
  @Environment(ENVIRONMENT, { in: 'query' })
  environment!: PlatformEnvironment;
}

export class CreateWebhookEndpointRequest {
  @Environment(ENVIRONMENT)
  environment!: PlatformEnvironment;

  @Url(true)
  url!: string;

  @Description({})
  description?: string;
}

export class UpdateWebhookEndpointRequest {
  @Url(false)
  url?: string;

  @Description({ clearable: true }, ' `null` or blank text removes it.')
  description?: string | null;
}

export class WebhookEndpointResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the endpoint.',
    example: EXAMPLE_ENDPOINT.id,
  })
  id!: string;

  @ApiProperty({
    type: String,
    format: 'uri',
    maxLength: MAX_URL_LENGTH,
    description: 'Where webhooks are sent to, as the URL Standard writes it.',
    example: EXAMPLE_ENDPOINT.url,
  })
  url!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: MAX_DESCRIPTION_LENGTH,
    description: 'What you use it for; null if you did not say.',
    example: EXAMPLE_ENDPOINT.description,
  })
  description!: string | null;

  @ApiProperty({
    enum: ENVIRONMENTS,
    description: 'The environment whose events are sent.',
    example: 'production',
  })
  environment!: PlatformEnvironment;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When it was created.',
    example: EXAMPLE_ENDPOINT.created_at,
  })
  created_at!: Date;
}
