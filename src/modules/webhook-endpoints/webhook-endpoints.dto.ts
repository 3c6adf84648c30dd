import { ApiProperty } from '@nestjs/swagger';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { EnvironmentField, Field, TextField } from '../../infrastructure/validation/index.js';
import { MAX_DESCRIPTION_LENGTH, MAX_URL_LENGTH } from './webhook-endpoint-limits.js';

export const EXAMPLE_ENDPOINT = {
  id: 'c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11',
  url: 'https://hooks.example.com/merchants',
  description: 'Card updates',
  environment: 'production',
  created_at: '2026-01-31T08:15:30.123Z',
};

const ENVIRONMENT = 'The environment whose events are sent. Must match the environment of the access token.';

/** The service checks whether the URL is public, because that depends on settings. */
const URL_FIELD = {
  max: MAX_URL_LENGTH,
  format: 'uri',
  description:
    'A public https URL with a host name: no IP address, no credentials; a port is allowed. The URL is stored and ' +
    'shown in the normal form of the URL Standard and without a fragment: `https://EXAMPLE.com:443#a` becomes ' +
    '`https://example.com/`.',
  example: EXAMPLE_ENDPOINT.url,
};

/** The service checks the text, because it checks the URL first: problems are reported in the order of the fields. */
const DESCRIPTION_FIELD = {
  required: false,
  schema: { type: String, maxLength: MAX_DESCRIPTION_LENGTH },
  description: `What you use the endpoint for, in at most ${MAX_DESCRIPTION_LENGTH} characters.`,
  example: EXAMPLE_ENDPOINT.description,
};

export class WebhookEndpointsQuery {
  @EnvironmentField({ in: 'query', description: ENVIRONMENT })
  environment!: PlatformEnvironment;
}

export class CreateWebhookEndpointRequest {
  @EnvironmentField({ description: ENVIRONMENT })
  environment!: PlatformEnvironment;

  @TextField(URL_FIELD)
  url!: string;

  @Field(DESCRIPTION_FIELD)
  description?: string;
}

export class UpdateWebhookEndpointRequest {
  @TextField({ ...URL_FIELD, required: false })
  url?: string;

  @Field({
    ...DESCRIPTION_FIELD,
    clearable: true,
    description: `${DESCRIPTION_FIELD.description} \`null\` or blank text removes it.`,
  })
  description?: string | null;
}

export class WebhookEndpointResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the endpoint.',
    example: EXAMPLE_ENDPOINT.id,
  })
  id!: string;

  @ApiProperty({
    type: String,
    format: 'uri',
    maxLength: MAX_URL_LENGTH,
    description: 'The URL that webhooks are sent to, in the normal form of the URL Standard.',
    example: EXAMPLE_ENDPOINT.url,
  })
  url!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    maxLength: MAX_DESCRIPTION_LENGTH,
    description: 'What you use the endpoint for; null if you did not describe it.',
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
    description: 'When the endpoint was created.',
    example: EXAMPLE_ENDPOINT.created_at,
  })
  created_at!: Date;
}
