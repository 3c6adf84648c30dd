import { TextField, UuidField } from '../../../infrastructure/validation/index.js';

const NAME = { max: 256, description: 'Your name for the identity provider.', example: 'Okta' };
const SECRET = {
  max: 1_024,
  required: false,
  isTrimmed: true,
  description: 'The client secret.',
  example: 'a secret',
} as const;

/** The form shows addresses with the ID, to register before it is sent. */
export const NEW_ID = {
  required: false,
  description: 'The ID of the new configuration.',
  example: '0198a6a2-3f50-7c11-9b8e-5a4f1a2b3c4d',
} as const;

/** The form that adds an identity provider. */
export class AddOpenidConfigurationRequest {
  @UuidField(NEW_ID)
  id?: string;

  @TextField(NAME)
  name!: string;

  @TextField({
    max: 1_024,
    isTrimmed: true,
    description: 'The issuer.',
    example: 'https://login.example.com',
  })
  issuer!: string;

  @TextField({ max: 256, isTrimmed: true, description: 'The client ID.', example: 'merchant-connectivity' })
  client_id!: string;

  /** Clients without a secret are public; PKCE protects their codes (RFC 9700, section 2.1.1). */
  @TextField(SECRET)
  client_secret?: string;
}

/** The form that changes an identity provider. Another issuer or client is another configuration. */
export class ChangeOpenidConfigurationRequest {
  @TextField(NAME)
  name!: string;

  @TextField(SECRET)
  client_secret?: string;
}
