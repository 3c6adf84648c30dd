import { X509Certificate, type KeyObject } from 'node:crypto';

/** What people have to see of a certificate to compare it with their identity provider's. */
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
/** NIST SP 800-186: P-256 and better. */
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Reads a certificate as metadata holds it: base64, broken into lines at will.
 *
 * @returns undefined when it is none, or of a time that there is not
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
