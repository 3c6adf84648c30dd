import { type ValidationArguments } from 'class-validator';
import {
  Configuration,
  EnvironmentVariable,
  IsHttpUrl,
  isOtherMachine,
  parsedUrl,
  Satisfies,
  type ProductionRules,
} from '../../infrastructure/config/index.js';

const PREFIX = 'whsec_';
/** Bytes (Standard Webhooks 1.0.0, "Signature scheme"). */
const MIN_KEY_LENGTH = 24;

const BOTH =
  'requires the other setting of the gateway: set MERCHANT_GATEWAY_URL and MERCHANT_GATEWAY_SECRET, or neither';

function hasOther(_value: unknown, context?: ValidationArguments): boolean {
  return (context?.object as MerchantGatewayConfiguration | undefined)?.address !== undefined;
}

function isSigningSecret(value: unknown): boolean {
  const secret = String(value);
  return /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret) && signingKeyOf(secret).length >= MIN_KEY_LENGTH;
}

/** Returns the key of a secret in the form of the Standard Webhooks specification. */
export function signingKeyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

/** Where the gateway is, and the secret that signs requests to it. */
export interface GatewayAddress {
  readonly url: string;
  readonly secret: string;
}

@Configuration('Merchant gateway')
export class MerchantGatewayConfiguration implements ProductionRules {
  @EnvironmentVariable(
    'MERCHANT_GATEWAY_URL',
    'URL of the platform’s own system that signs users in to merchants in production. Its address may be private. Without it, nobody can sign in to a merchant in production.',
  )
  @IsHttpUrl('https://gateway.example.com')
  @Satisfies(hasOther, `url ${BOTH}`)
  url?: string;

  @EnvironmentVariable(
    'MERCHANT_GATEWAY_SECRET',
    'Secret that signs requests to the merchant gateway: `whsec_` and at least 24 random bytes in base64.',
    { secret: true },
  )
  @Satisfies(isSigningSecret, 'secret must be whsec_ followed by at least 24 bytes in base64')
  @Satisfies(hasOther, `secret ${BOTH}`)
  secret?: string;

  get address(): GatewayAddress | undefined {
    const { url, secret } = this;
    return url === undefined || secret === undefined ? undefined : { url, secret };
  }

  productionProblems(): string[] {
    const { protocol, hostname = '' } = parsedUrl(this.url ?? '') ?? {};
    return protocol === 'http:' && isOtherMachine(hostname)
      ? [
          'MERCHANT_GATEWAY_URL must begin with https:// in production, unless the gateway runs on the same machine: the keys that encrypt passwords come from there.',
        ]
      : [];
  }
}
