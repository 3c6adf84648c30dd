import { TextField, UuidField } from '../../../infrastructure/validation/index.js';

export const NAME = { in: 'form', max: 256 } as const;
export const CLIENT_SECRET = { in: 'form', required: false, max: 1_024, isTrimmed: true } as const;

/** The form shows addresses with the ID, to register before it is sent. */
export const NEW_ID = { in: 'form', required: false } as const;

/** The form that adds an identity provider. */
export class AddOpenidConfigurationRequest {
  @UuidField(NEW_ID)
  id?: string;

  @TextField(NAME)
  name!: string;

  @TextField({ in: 'form', max: 1_024, format: 'uri', isTrimmed: true })
  issuer!: string;

  @TextField({ in: 'form', max: 256, isTrimmed: true })
  client_id!: string;

  /** Clients without a secret are public; PKCE protects their codes (RFC 9700, section 2.1.1). */
  @TextField(CLIENT_SECRET)
  client_secret?: string;
}
