import { Secret, TOTP } from 'otpauth';

/** Returns the code that an authenticator app shows at this time. */
export function totpCode(secret: string, milliseconds: number = Date.now()): string {
  return new TOTP({ secret: Secret.fromBase32(secret.replaceAll(/\s/g, '')) }).generate({
    timestamp: milliseconds,
  });
}
