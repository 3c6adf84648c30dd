import type { ShownValues } from '../../../infrastructure/pages/index.js';
import { readCertificate, type SigningCertificate } from '../saml/saml-metadata.js';
import type { SsoConfiguration } from '../sso-configuration.entity.js';

/** Returns the identity provider that a configuration trusts. An owner who enables it answers for that. */
export function trustOf(configuration: SsoConfiguration): ShownValues {
  const { name, protocol, entityId, ssoUrl, clientId, metadataUrl, certificates } = configuration;
  if (protocol === 'openid') return { Name: name, Issuer: entityId, 'Client ID': clientId ?? 'none' };
  return {
    Name: name,
    'Entity ID': entityId,
    'Login URL': ssoUrl,
    'Metadata URL': metadataUrl ?? 'none',
    Certificates: fingerprintsOf(certificates),
  };
}

/** @param encoded DER in base64 */
export function readCertificates(encoded: readonly string[]): SigningCertificate[] {
  return encoded.flatMap((each) => readCertificate(each) ?? []);
}

/** @param encoded DER in base64 */
export function fingerprintsOf(encoded: readonly string[]): string {
  return readCertificates(encoded)
    .map(({ fingerprint }) => fingerprint)
    .join(', ');
}
