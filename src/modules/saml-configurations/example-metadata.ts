/** Created with `openssl req -x509`. Nobody has the private key. */
const EXAMPLE_CERTIFICATE =
  'MIIBMTCB1wIUYwQRsynxIjBpQsCDQOcobtF+WXIwCgYIKoZIzj0EAwIwGjEYMBYGA1UEAwwPaWRwLmV4YW1wbGUuY2' +
  '9tMCAXDTI2MTEyMjE3MTExMVoYDzIxMjYxMDI5MTcxMTExWjAaMRgwFgYDVQQDDA9pZHAuZXhhbXBsZS5jb20wWTAT' +
  'BgcqhkjOPQIBBggqhkjOPQMBBwNCAARNKoTP2vzpme24lBbRrIy8DktCNAPoTtg1M5VUhZr+wIqn9CAZtwhSxjG26S' +
  'FaQ0GtdZAa3ru2oyKCpM+Q7LJ2MAoGCCqGSM49BAMCA0kAMEYCIQDh36p0ZWgN8OT4Qpr6WyZhOroSrYZ+gmngP+Ax' +
  '5nCNdwIhAKT6if0F2OPyJA7BZ5znlKXMYKFbHmoM+Tjepy87norW';

/** What the service reads from the certificate. */
export const EXAMPLE_CERTIFICATE_FIELDS = {
  subject: 'CN=idp.example.com',
  sha256_fingerprint:
    '7E:2E:7E:DB:E1:D2:37:A4:3F:56:C9:67:27:FC:F2:BF:BA:96:2D:A8:11:2F:DA:85:C6:DB:B4:97:9B:3C:30:09',
  valid_from: '2026-11-22T17:11:11.000Z',
  valid_to: '2126-10-29T17:11:11.000Z',
};

/** Metadata that the service accepts, although no identity provider has it. */
export const EXAMPLE_METADATA =
  '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.com">' +
  '<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing">' +
  '<KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>' +
  EXAMPLE_CERTIFICATE +
  '</X509Certificate></X509Data></KeyInfo></KeyDescriptor><SingleSignOnService ' +
  'Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example.com/sso"/>' +
  '</IDPSSODescriptor></EntityDescriptor>';
