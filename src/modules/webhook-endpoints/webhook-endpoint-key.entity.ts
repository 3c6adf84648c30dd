import { Column, Entity } from 'typeorm';
import { SecretVersion } from '../../infrastructure/issued-tokens/index.js';

/** The owner and kind of the key that makes the header `webhook-signature`: the API client (its secret), or the endpoint. */
export const SIGNINGS = ['client', 'hmac', 'ed25519'] as const;
export type Signing = (typeof SIGNINGS)[number];

/**
 * A key that signs the deliveries to an endpoint, or has signed them. An endpoint without such a row has always been signed for with the
 * client's secret.
 */
@Entity({ name: 'webhook_endpoint_key' })
export class WebhookEndpointKey extends SecretVersion {
  @Column({ name: 'endpoint_id', type: 'uuid' })
  endpointId!: string;

  @Column({ type: 'varchar', length: 7 })
  kind!: Signing;

  /** The secret, or the private key; null for `client`. */
  @Column({ type: 'bytea', nullable: true })
  sealed!: Buffer | null;

  /** The public key of `ed25519`. */
  @Column({ name: 'public_key', type: 'text', nullable: true })
  publicKey!: string | null;
}

/** Returns the `owner` argument for `Sealer`: the row that the encrypted key is bound to. */
export function ownerOfKey({
  id,
  endpointId,
  version,
}: Pick<WebhookEndpointKey, 'id' | 'endpointId' | 'version'>): string[] {
  return ['webhook_endpoint_key', endpointId, id, String(version)];
}
