/** Certificates of identity providers, DER in base64, created with `openssl req -x509`. All but one are valid until 2126. */
export const CERTIFICATES = {
  /** RSA of 2048 bits, until 2126. */
  STRONG:
    'MIIDQzCCAiugAwIBAgIUEtnCe5KgZFPLMHq69LvTfYRkW9kwDQYJKoZIhvcNAQELBQAwMDEYMBYGA1UEAwwPaWRwLm' +
    'V4YW1wbGUuY29tMRQwEgYDVQQKDAtFeGFtcGxlIEx0ZDAgFw0yNjExMjExMjI3MjFaGA8yMTI2MTAyODEyMjcyMVow' +
    'MDEYMBYGA1UEAwwPaWRwLmV4YW1wbGUuY29tMRQwEgYDVQQKDAtFeGFtcGxlIEx0ZDCCASIwDQYJKoZIhvcNAQEBBQ' +
    'ADggEPADCCAQoCggEBALUfU/Nix8IY55hELMHH/U1t34iDoUGb0ZonC2HgzRoCAFsmOi45WddYZB1MzljpgcLO/YIk' +
    'CkNJ2gnNIOSMkIMumMq7QgwwJ/pX74l3wb1jez+milh7Ghwvxxx+1QXBsSg5+/Ni8+q55ib5SLTtlhF0G26wC4qpTK' +
    '3IBDyxPVUhP9XW8W/5oTyQ3ByWEFxp4nxz7obXCasq/d1npBVP0Au/GUfKnvfoKj+yaqRKbVHXoYBYPBCQOznzAEBK' +
    'fCrtBvwyNYLw1uYb+3lCWdZUyNh/zYJq3yj2dxWSyxaQPj/xeZrBirv5a9y/flgAU4MaGL113N70qPMugl1RvWP3Wp' +
    '8CAwEAAaNTMFEwHQYDVR0OBBYEFC4IyXWnlGBE06kLeKsRuw2etAySMB8GA1UdIwQYMBaAFC4IyXWnlGBE06kLeKsR' +
    'uw2etAySMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADggEBAKcyNWZpKXdHx64Bz0FH3Xay23+iofOVZ+' +
    'Km2+/DZyHhx0GHR7bUANruLlXKkE+vLxOY4Ng5gyxw7hzSDup3i13/bjEV0Y2viCLSPaeXBEH7s4Gdl4uRF0exnd3t' +
    'ukHcDd5Eq8SqGZdGc4B/VfTvwFF1RyGOSPVCi4XtIEv3btsUBqU1Q0noyENC8jzZkYkDsnMoUBWow6Sc0FEhgisego' +
    'b/nA+DL1Om/dtq9lV6TdEkkZBSZNQykUVvSBFh1O3VGc5PIVz1XiSUIgEDkozVLvMKQVNxrbkjEkRhVHcgtZ49Vi16' +
    'xjfcMgjbhKtXDj0xx5LuWEtrVZRwMsmwrljP/Oc=',
  /** RSA of 1024 bits. */
  WEAK:
    'MIICFDCCAX2gAwIBAgIUeI/i9sPp5VkSgs6vTqq5JDc+mIAwDQYJKoZIhvcNAQELBQAwGzEZMBcGA1UEAwwQd2Vhay' +
    '5leGFtcGxlLmNvbTAgFw0yNjExMjExMjI3MjFaGA8yMTI2MTAyODEyMjcyMVowGzEZMBcGA1UEAwwQd2Vhay5leGFt' +
    'cGxlLmNvbTCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAuj2J83ILz4OfvjeJBYsEVnxyf2MZwsr9pU9me2UOLf' +
    'Ww9+uP/9go4BDKy6NyCnt45t/5yWuNSyZFxa2hzqHUEGv3G8PT1191TTofIEMSJXxmP2KwrZbaYfL4ZPaMMehE7m4p' +
    'AdpXPpo8XBl8BmKLJVXU1/aIhaaUQHAfFJNuaZUCAwEAAaNTMFEwHQYDVR0OBBYEFCgIWlkYyUBvp+LBuxd6Y/4j3z' +
    'GNMB8GA1UdIwQYMBaAFCgIWlkYyUBvp+LBuxd6Y/4j3zGNMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQAD' +
    'gYEAZ+uKJ8hFtW8+w+HkEivAHpgYJ29XU0tK/gnBbe6N1L3s8fqrDHbcMQ/a+7A/IV8dSpF3lus9GcX3XowKTHGde1' +
    '6L1AClSP2FoOaLEUQNnwbVaNUfpgw92QKEfFu4zCyu4yG5tabPqueoYd9bAudPtkQQjW+GMY08onAQigV62Tw=',
  /** EC on P-256. */
  P256:
    'MIIBjjCCATOgAwIBAgIUVJ3g7QR3/MiQ/vEpCjR3rw9VP0cwCgYIKoZIzj0EAwIwGzEZMBcGA1UEAwwQcDI1Ni5leG' +
    'FtcGxlLmNvbTAgFw0yNjExMjExMjI3MjFaGA8yMTI2MTAyODEyMjcyMVowGzEZMBcGA1UEAwwQcDI1Ni5leGFtcGxl' +
    'LmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBTuyCSofNdzeUHu5KJs6MHCilc85V6O4puLKZvDkGeBsPhYAT' +
    'H4EX8xuNdlnJrk1nahK5Xw5CNCp91yxWuBeUSjUzBRMB0GA1UdDgQWBBRMIrgfSrzsswhjCB9URCbnarXYvDAfBgNV' +
    'HSMEGDAWgBRMIrgfSrzsswhjCB9URCbnarXYvDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCVML' +
    'LCKd6eB/fSfAk8lY9Cf8cPWyaLPoE1X0Uqc2YwSQIhAJvFaVCkPpx+4FSIC/aQoEfPFq/skAFgF6XbagFqzSFe',
  /** EC on P-521. */
  P521:
    'MIICFDCCAXagAwIBAgIUaw9tCKaZZaIDBe8+1gQhJ9YelgMwCgYIKoZIzj0EAwIwGzEZMBcGA1UEAwwQcDUyMS5leG' +
    'FtcGxlLmNvbTAgFw0yNjExMjExMjI3MjFaGA8yMTI2MTAyODEyMjcyMVowGzEZMBcGA1UEAwwQcDUyMS5leGFtcGxl' +
    'LmNvbTCBmzAQBgcqhkjOPQIBBgUrgQQAIwOBhgAEAUhsz2BTUp2Cdks4ElphsATc7WXO2mK20yVYae89DCOUDAcwOD' +
    'b+dU1aJMFLImTGgvwkwXXgv4/TDuJrbAFDioO/ANeGU1aij3+1Z+CH4NJSVWaCRhnKd5S3xy47gmAyiovxHdyVnG2K' +
    'AkLj2A2JX6pPyNXpgapZM4E+kJxW9ZBIRWDqo1MwUTAdBgNVHQ4EFgQUjRPD1/HUUCV7iulqKSEJhnEwXMkwHwYDVR' +
    '0jBBgwFoAUjRPD1/HUUCV7iulqKSEJhnEwXMkwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgOBiwAwgYcCQVn1' +
    '8ioOmq725kSJdW2oCs+2iL/QoF0zjLuAkAk9sRm4tlLZdwiXdHfjPgvjIJDqKlaUifQ8x4Rgga4jenfW8BoTAkIB/o' +
    'o1VPec/3YjqKg7igCXOtJcknIINs5xGE9RHSN/e41inaRz18i3duy6vdHZFdkjRKu705MiZraD/QZu6LtRF/I=',
  /** EC on P-224. */
  P224:
    'MIIBejCCASigAwIBAgIUc7rmO7nJAYh+eeLK/znBvWLVfnowCgYIKoZIzj0EAwIwGzEZMBcGA1UEAwwQcDIyNC5leG' +
    'FtcGxlLmNvbTAgFw0yNjExMjExMjI3MjFaGA8yMTI2MTAyODEyMjcyMVowGzEZMBcGA1UEAwwQcDIyNC5leGFtcGxl' +
    'LmNvbTBOMBAGByqGSM49AgEGBSuBBAAhAzoABFTuA/0klPO8bQCnWvzU4rrw58D7sZlit6kwl0jnZtOOsJ1JOlTpHQ' +
    '3/SY9rQfPNxmY5Sv6XQ+9Lo1MwUTAdBgNVHQ4EFgQUDXWkgyq4+EVaLnAjO3os5pSS62MwHwYDVR0jBBgwFoAUDXWk' +
    'gyq4+EVaLnAjO3os5pSS62MwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNAADA9AhxKs4DQgCWoYGs+tXsGev' +
    'vtHV+vd91t9SswT8LqAh0A5Htv4qAsYWvDjHcl4dz70LipE6zf7Qk2DVTZqw==',
  /** EC on secp256k1. */
  K256:
    'MIIBijCCATCgAwIBAgIUSJzp3CFE7n9kbtmT6lu4+3p8Lh0wCgYIKoZIzj0EAwIwGzEZMBcGA1UEAwwQazI1Ni5leG' +
    'FtcGxlLmNvbTAgFw0yNjExMjExMjI3MjFaGA8yMTI2MTAyODEyMjcyMVowGzEZMBcGA1UEAwwQazI1Ni5leGFtcGxl' +
    'LmNvbTBWMBAGByqGSM49AgEGBSuBBAAKA0IABEdUeNj6xRrsZP5KCpFYxQuae9QPFBA28RvZqunfMYdpg1zjVYUyZ5' +
    'VUEnf9SAahEeMR131L44ShH7Q4dDZ2KhOjUzBRMB0GA1UdDgQWBBRiaHFkj8Xa1JYZ5AdkP6ZWVnuW+DAfBgNVHSME' +
    'GDAWgBRiaHFkj8Xa1JYZ5AdkP6ZWVnuW+DAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQDQ/7I1rj' +
    'k15aNmjk+TSgTp6VHz3vLtYXhSXmqMgo9MbAIgLXMbg43IgPIqeuPR7MyDBrBIwUY7BlnG1FFKPIudNbw=',
  /** Ed25519. */
  ED25519:
    'MIIBUzCCAQWgAwIBAgIUJS3JQlFWZQRDa+KqDNYtxy+Xq4QwBQYDK2VwMB4xHDAaBgNVBAMME2VkMjU1MTkuZXhhbX' +
    'BsZS5jb20wIBcNMjYxMTIxMTIyNzIxWhgPMjEyNjEwMjgxMjI3MjFaMB4xHDAaBgNVBAMME2VkMjU1MTkuZXhhbXBs' +
    'ZS5jb20wKjAFBgMrZXADIQDRWJF4ftWaYiC2XwC5iCFBtM/H0B5vA5onig5uEDEcJKNTMFEwHQYDVR0OBBYEFDt9Ls' +
    'GltjMx9Ub47TthP/yc4dOtMB8GA1UdIwQYMBaAFDt9LsGltjMx9Ub47TthP/yc4dOtMA8GA1UdEwEB/wQFMAMBAf8w' +
    'BQYDK2VwA0EAyZLPql2g36wL6TgcdTheIDKSgg5AWvqZPfb/CPNnIWFDtnSFZeVAShGtbueeKPpWPpN8lS+wObEuUw' +
    '7RROrrCw==',
  /** RSA of 2048 bits, expired in 2021. */
  EXPIRED:
    'MIICsDCCAZgCAQEwDQYJKoZIhvcNAQELBQAwHjEcMBoGA1UEAwwTZXhwaXJlZC5leGFtcGxlLmNvbTAeFw0yMDAxMD' +
    'EwMDAwMDBaFw0yMTAxMDEwMDAwMDBaMB4xHDAaBgNVBAMME2V4cGlyZWQuZXhhbXBsZS5jb20wggEiMA0GCSqGSIb3' +
    'DQEBAQUAA4IBDwAwggEKAoIBAQC+b3vlw2WVJo7XdwGM9inNq1MMFzbdApY6mL5xCa+jRPJy2q/jnTwblwsInl2BdK' +
    'XQysAs1bC0tZraWop65tbNOESemGYsNVs/v2OP1VZTf5wEq7bTN6j3ENHtWiZuAxFrFu4KzEYqwDn+Mv/DBbg1hOtH' +
    'BXzwrGT/gW2gJWxZKD1sw8hQUpETtxgPmCW0dKwtNUbMEXOitsZ3MKBYgw8KeOZ2kzhCgrpFPH9N5Id76S+j63wZL/' +
    'pxZ4Z/O27GkFUb8EHKM4Zf75mmfmuqJT1uXn4nKnHOBcKp2npPyuhgIb7TdoTTYI1LOl1PmtIFb2ykOahZK05YeXf7' +
    'Ef5gQAf5AgMBAAEwDQYJKoZIhvcNAQELBQADggEBAI8cNWirLSrOD59h2ljqdBH/7MSq8rsqLSud/dUKoUJplSAHyy' +
    'RIGetVAJEofy9qUAS98WEEFR5t4kKLEErEPmvgy9jR1Mej7FxEs17kxMsKwY9f/+Yg3OCvXOF0zHCgVM/DLEY9ZoNQ' +
    'lhSE7dadtszKf+cDakvteu+I42C+L9JgymCg8eheUHCGcQNtzP/XGZzbEJUp4Jl42ntF8ETjWr0Fv3HSX+Ocj51yBY' +
    'BOEx3NNGprfh0GQF5wuWEi4SjwkM/3PunSttAGt8mLdKfL1z7dcnkIxBczEiHlrMBZlhzeiealGmflfpm7WVTkKaKf' +
    'ox6KWaLn7TIqwCWljus78Rw=',
} as const;

/** Deviations from valid metadata. */
export interface MetadataOptions {
  readonly prefix?: string;
  readonly signaturePrefix?: string;
  readonly entityId?: string;
  readonly services?: readonly (readonly [binding: string, location: string])[];
  readonly certificates?: readonly string[];
  readonly use?: string;
}

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
const BINDINGS = 'urn:oasis:names:tc:SAML:2.0:bindings';

/** Returns the metadata of an identity provider. */
export function samlMetadata({
  prefix = 'md',
  signaturePrefix = 'ds',
  entityId = 'https://idp.example.com',
  services = [['HTTP-Redirect', 'https://idp.example.com/sso?a=1&amp;b=2']],
  certificates = [CERTIFICATES.STRONG],
  use = ' use="signing"',
}: MetadataOptions = {}): string {
  const named = (name: string, ownPrefix = prefix): string =>
    ownPrefix === '' ? name : `${ownPrefix}:${name}`;
  const declared = (ownPrefix: string): string => (ownPrefix === '' ? 'xmlns' : `xmlns:${ownPrefix}`);
  const ds = (name: string): string => named(name, signaturePrefix);
  const keys = certificates.map(
    (certificate) =>
      `<${named('KeyDescriptor')}${use}><${ds('KeyInfo')} ${declared(signaturePrefix)}="${SIGNATURE}"><${ds('X509Data')}>` +
      `<${ds('X509Certificate')}>\n${certificate.replaceAll(/.{64}/g, '$&\n')}\n</${ds('X509Certificate')}>` +
      `</${ds('X509Data')}></${ds('KeyInfo')}></${named('KeyDescriptor')}>`,
  );
  const locations = services.map(
    ([binding, location]) =>
      `<${named('SingleSignOnService')} Binding="${BINDINGS}:${binding}" Location="${location}"/>`,
  );
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<!-- exported -->\n` +
    `<${named('EntityDescriptor')} ${declared(prefix)}="${METADATA}" entityID="${entityId}">` +
    `<${named('IDPSSODescriptor')} protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
    `${keys.join('')}${locations.join('')}</${named('IDPSSODescriptor')}></${named('EntityDescriptor')}>`
  );
}
