import { Secret, TOTP } from 'otpauth';
import { typedCode } from '../../../infrastructure/validation/index.js';

/** The values that every authenticator app supports (RFC 6238). */
const ALGORITHM = 'SHA1';
const DIGITS = 6;
const PERIOD = 30;
/** Accepted steps before and after the current one, for clocks that differ and users who type slowly. */
const WINDOW = 1;
/** Bytes; RFC 4226, section 4, recommends 160 bits. */
const SECRET_BYTES = 20;

export function generateTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

export function totpUri(secret: string, email: string): string {
  return totp(secret, email).toString();
}

/** Returns the step of the code (RFC 6238, section 4.2); undefined when the code belongs to no step of the window. */
export function totpStepOf(secret: string, code: string, milliseconds: number): number | undefined {
  const token = typedCode(code);
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = totp(secret).validate({ token, timestamp: milliseconds, window: WINDOW });
  return delta === null ? undefined : TOTP.counter({ period: PERIOD, timestamp: milliseconds }) + delta;
}

function totp(secret: string, label = ''): TOTP {
  return new TOTP({
    issuer: 'Merchant Connectivity',
    label,
    secret: Secret.fromBase32(secret),
    algorithm: ALGORITHM,
    digits: DIGITS,
    period: PERIOD,
  });
}
