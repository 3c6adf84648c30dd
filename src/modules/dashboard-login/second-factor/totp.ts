import { Secret, TOTP } from 'otpauth';

/** What every authenticator app can do (RFC 6238): SHA-1, 6 digits, 30 seconds. */
const ALGORITHM = 'SHA1';
const DIGITS = 6;
const PERIOD = 30;
/** Steps before and after the present one, for clocks that differ and people who type slowly. */
const WINDOW = 1;
/** Bytes; RFC 4226, section 4, recommends 160 bits. */
const SECRET_BYTES = 20;

/** The secret in base32, as apps take it. */
export function generateTotpSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** What the QR code says to the app. */
export function totpUri(secret: string, email: string): string {
  return totp(secret, email).toString();
}

/** The step that the code belongs to (RFC 6238, section 4.2); undefined when it is not the code of one near. */
export function totpStepOf(secret: string, code: string, milliseconds: number): number | undefined {
  const token = code.replaceAll(/\s/g, '');
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
