import { CERTIFICATES, samlMetadata, type MetadataOptions } from '../../../test/support/saml.js';
import { MetadataProblem, METADATA_PROBLEMS, readSamlMetadata } from './saml-metadata.js';
import { readCertificate } from './signing-certificate.js';

const NOW = new Date('2026-01-31T08:15:30.123Z');
const { STRONG, WEAK, P256, P521, P224, K256, ED25519, EXPIRED } = CERTIFICATES;
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

const read = (options?: MetadataOptions) => readSamlMetadata(samlMetadata(options), NOW);

/** The message of the rule that the text breaks. */
function problemOf(xml: string): string {
  try {
    readSamlMetadata(xml, NOW);
  } catch (error) {
    expect(error).toBeInstanceOf(MetadataProblem);
    return (error as Error).message;
  }
  return 'none';
}
const problem = (options: MetadataOptions): string => problemOf(samlMetadata(options));

describe('The metadata of an identity provider', () => {
  it('tells who it is, where people log in and who signs', () => {
    expect(read()).toEqual({
      entityId: 'https://idp.example.com',
      ssoUrl: 'https://idp.example.com/sso?a=1&b=2',
      ssoBinding: REDIRECT,
      certificates: [STRONG],
    });
  });

  it.each([
    ['md', 'ds'],
    ['', ''],
    ['', 'ds'],
    ['saml2', 'dsig'],
    ['ds', 'md'],
    ['EntityDescriptor', 'x-1'],
    ['md', 'md'],
  ])('has prefixes of any name ("%s", "%s")', (prefix, signaturePrefix) => {
    expect(read({ prefix, signaturePrefix }).certificates).toEqual([STRONG]);
  });

  it('prefers HTTP-Redirect, and an address of https', () => {
    const services = [
      ['SOAP', 'https://a.example'],
      ['HTTP-POST', 'https://b.example'],
      ['HTTP-Redirect', 'https://c.example'],
    ] as const;
    expect(read({ services })).toMatchObject({ ssoUrl: 'https://c.example', ssoBinding: REDIRECT });
    expect(read({ services: [services[1], ['HTTP-Redirect', 'http://c.example']] })).toMatchObject({
      ssoUrl: 'https://b.example',
      ssoBinding: POST,
    });
  });

  it.each([
    ['P-256', P256],
    ['P-521', P521],
  ])('takes a key on %s', (_curve, certificate) => {
    expect(read({ certificates: [certificate] }).certificates).toEqual([certificate]);
  });

  it('keeps the certificates that can be used, once each', () => {
    expect(read({ certificates: [EXPIRED, 'AAAA', WEAK, P256, STRONG, P256] }).certificates).toEqual([
      P256,
      STRONG,
    ]);
  });

  it('takes a key without a use for all uses, and none for encryption', () => {
    expect(read({ use: '' }).certificates).toEqual([STRONG]);
    expect(problem({ use: ' use="encryption"' })).toBe(METADATA_PROBLEMS.noCertificate);
  });

  it.each<[string, MetadataOptions]>([
    [METADATA_PROBLEMS.entityId, { entityId: ' ' }],
    [METADATA_PROBLEMS.entityId, { entityId: 'x'.repeat(1_025) }],
    [METADATA_PROBLEMS.service, { services: [] }],
    [METADATA_PROBLEMS.service, { services: [['SOAP', 'https://a.example']] }],
    [METADATA_PROBLEMS.location, { services: [['HTTP-POST', 'http://a.example']] }],
    [METADATA_PROBLEMS.location, { services: [['HTTP-POST', 'javascript:alert(1)']] }],
    [METADATA_PROBLEMS.location, { services: [['HTTP-POST', 'https://']] }],
    [METADATA_PROBLEMS.location, { services: [['HTTP-POST', '']] }],
    [METADATA_PROBLEMS.noCertificate, { certificates: [] }],
    [METADATA_PROBLEMS.certificate, { certificates: [''] }],
    [METADATA_PROBLEMS.certificate, { certificates: ['no base64!'] }],
    [METADATA_PROBLEMS.certificate, { certificates: [STRONG.slice(0, 400)] }],
    [METADATA_PROBLEMS.expired, { certificates: [EXPIRED] }],
    [METADATA_PROBLEMS.key, { certificates: [WEAK] }],
    [METADATA_PROBLEMS.key, { certificates: [P224] }],
    [METADATA_PROBLEMS.key, { certificates: [K256] }],
    [METADATA_PROBLEMS.key, { certificates: [ED25519] }],
  ])('is refused: %s (%#)', (message, options) => expect(problem(options)).toBe(message));

  it.each([
    ['nothing', ''],
    ['text', 'metadata'],
    ['no end', samlMetadata().slice(0, -5)],
    ['two roots', `${samlMetadata()}<a/>`],
    ['a prefix that is not declared', samlMetadata().replace('xmlns:md=', 'xmlns:other=')],
    ['a document type', `<!DOCTYPE a [<!ENTITY b "c">]>${samlMetadata()}`],
    ['a document type in small letters', `<!doctype a>${samlMetadata()}`],
    ['entities of entities', `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`],
    ['10,000 levels', `${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`],
    ['10,000 levels with comments between', `${'<a><!--</a>-->'.repeat(10_000)}${'</a>'.repeat(10_000)}`],
    ['many beginnings', '<a '.repeat(80_000)],
    ['names that mean something', '<__proto__ constructor="a"><constructor/></__proto__>'],
  ])('is no XML: %s', (_what, xml) => {
    expect([METADATA_PROBLEMS.xml, METADATA_PROBLEMS.descriptor]).toContain(problemOf(xml));
  });

  it.each([
    ['another root', samlMetadata().replaceAll('EntityDescriptor', 'EntitiesDescriptor')],
    ['another namespace', samlMetadata().replaceAll('SAML:2.0:metadata', 'SAML:1.0:metadata')],
  ])('is none: %s', (_what, xml) => expect(problemOf(xml)).toBe(METADATA_PROBLEMS.descriptor));

  it('is that of an identity provider, and not of a service', () => {
    expect(problemOf(samlMetadata().replaceAll('IDPSSODescriptor', 'SPSSODescriptor'))).toBe(
      METADATA_PROBLEMS.provider,
    );
  });
});

describe('A certificate', () => {
  it('tells whose it is and until when', () => {
    expect(readCertificate(STRONG)).toMatchObject({
      subject: 'CN=idp.example.com, O=Example Ltd',
      fingerprint: expect.stringMatching(/^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/) as string,
      isStrong: true,
    });
    expect(readCertificate(EXPIRED)?.validTo).toEqual(new Date('2021-01-01T00:00:00.000Z'));
  });

  it('of a private key or of nonsense is none', () => {
    for (const text of [
      '',
      'AAAA',
      '-----BEGIN CERTIFICATE-----',
      Buffer.from('x'.repeat(500)).toString('base64'),
    ])
      expect(readCertificate(text)).toBeUndefined();
  });
});
