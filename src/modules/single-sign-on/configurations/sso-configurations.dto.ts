import { TextField, UuidField } from '../../../infrastructure/validation/index.js';

const NAME = { in: 'form', max: 256 } as const;
const CLIENT_SECRET = { in: 'form', required: false, max: 1_024, isTrimmed: true } as const;

class AddConfigurationRequest {
  /** The form shows addresses with the ID, to register before it is sent. */
  @UuidField({ in: 'form', required: false })
  id?: string;

  @TextField(NAME)
  name!: string;
}

export class AddOpenidConfigurationRequest extends AddConfigurationRequest {
  @TextField({ in: 'form', max: 1_024, format: 'uri', isTrimmed: true })
  issuer!: string;

  @TextField({ in: 'form', max: 256, isTrimmed: true })
  client_id!: string;

  /** Clients without a secret are public; PKCE protects their codes (RFC 9700, section 2.1.1). */
  @TextField(CLIENT_SECRET)
  client_secret?: string;
}

/** Characters. Real metadata has 5,000 to 20,000. */
const METADATA_LENGTH = 262_144;

const METADATA = { in: 'form', required: false, max: METADATA_LENGTH, isTrimmed: true } as const;
/** Where the metadata is fetched, now and every day. */
const METADATA_URL = { in: 'form', required: false, max: 2_048, format: 'uri', isTrimmed: true } as const;

/** The form that adds an identity provider: with its metadata, or with their URL. */
export class AddSamlConfigurationRequest extends AddConfigurationRequest {
  @TextField(METADATA_URL)
  metadata_url?: string;

  @TextField(METADATA)
  metadata_xml?: string;
}

/** The form that changes an identity provider. Another issuer or client is another configuration. Metadata are for SAML only. */
export class ChangeConfigurationRequest {
  @TextField({ ...NAME, required: false })
  name?: string;

  @TextField(METADATA_URL)
  metadata_url?: string;

  @TextField(METADATA)
  metadata_xml?: string;

  /** For OpenID Connect only. */
  @TextField(CLIENT_SECRET)
  client_secret?: string;
}
