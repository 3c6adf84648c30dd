import { X509Certificate, type KeyObject } from 'node:crypto';

/** A certificate, with the properties that users compare with those that their identity provider shows. */
export interface SigningCertificate {
  /** DER in base64. */
  readonly encoded: string;
  readonly subject: string;
  /** SHA-256. */
  readonly fingerprint: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  readonly isStrong: boolean;
}

const MIN_RSA_BITS = 2_048;
/** NIST SP 800-186: P-256 and stronger. */
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Reads a certificate from metadata: base64 with line breaks anywhere.
 *
 * @returns undefined when the text is not a certificate, or its validity is not a date
 */
export function readCertificate(text: string): SigningCertificate | undefined {
  const encoded = text.replaceAll(/\s/g, '');
  if (!BASE64.test(encoded)) return undefined;
  try {
    const certificate = new X509Certificate(Buffer.from(encoded, 'base64'));
    const [validFrom, validTo] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
    if (Number.isNaN(validFrom.getTime()) || Number.isNaN(validTo.getTime())) return undefined;
    return {
      encoded: certificate.raw.toString('base64'),
      subject: (certificate.subject ?? '').replaceAll('\n', ', '),
      fingerprint: certificate.fingerprint256,
      validFrom,
      validTo,
      isStrong: isStrong(certificate.publicKey),
    };
  } catch {
    return undefined;
  }
}

function isStrong({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'ec') return CURVES.has(namedCurve);
  return (asymmetricKeyType ?? '').startsWith('rsa') && modulusLength >= MIN_RSA_BITS;
}
