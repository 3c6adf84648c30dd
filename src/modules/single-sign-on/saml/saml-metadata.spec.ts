import { CERTIFICATES, samlMetadata, type MetadataOptions } from '../../../../test/support/logins/saml.js';
import { cpuTimeOf } from '../../../../test/support/programs/cpu-time.js';
import { messageAbout } from '../../../infrastructure/validation/index.js';
import { METADATA_ERRORS, readCertificate, readSamlMetadata } from './saml-metadata.js';
import { parseXml } from './xml.js';

const NOW = new Date('2026-01-31T08:15:30.123Z');
const { STRONG, WEAK, P256, P521, P224, K256, ED25519, EXPIRED } = CERTIFICATES;
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

const read = (options?: MetadataOptions) => readSamlMetadata(parseXml(samlMetadata(options)), NOW);

/** The message of the rule that the text breaks. */
function problemOf(xml: string): string {
  try {
    readSamlMetadata(parseXml(xml), NOW);
  } catch (error) {
    expect(error).toMatchObject({ status: 400, code: 'INVALID_FIELD' });
    return (error as Error).message;
  }
  return 'none';
}
const problem = (options: MetadataOptions): string => problemOf(samlMetadata(options));

const numbered = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join('');
const manyNamespaces = (declarations: number, elements: number): string =>
  `<a${numbered(declarations, (index) => ` xmlns:n${index}="u"`)}>${'<b/>'.repeat(elements)}</a>`;

/** Characters that the field may have. */
const LONGEST = 262_144;
/** Documents of the maximum length, each of which could make a different part of a parser take quadratic time. */
const LONG_DOCUMENTS = [
  ['<', ' ', '>'],
  ['<a', ' ', '=>'],
  ['<a b="', ' ', '=>'],
  ['<a ', 'b=', '>'],
  ['', '<', ''],
  ['', '<a ', ''],
  ['<a>', '&', '</a>'],
  ['<a>', '&amp;', '</a>'],
  ['<a>', ']]', '</a>'],
  ['<a>', '<!--', ''],
  ['<a>', '<![CDATA[', ''],
  ['<a>', '<?b', ''],
  ['<a>', '<b>x</b>', '</a>'],
  ['<a><![CDATA[', ']]]', '</a>'],
].map(([before = '', repeated = '', after = '']) => {
  const count = Math.floor((LONGEST - before.length - after.length) / repeated.length);
  return before + repeated.repeat(count) + after;
});

describe('readSamlMetadata', () => {
  it('reads the entity ID, the login URL and the signing certificates', () => {
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
  ])('accepts any prefixes ("%s", "%s")', (prefix, signaturePrefix) => {
    expect(read({ prefix, signaturePrefix }).certificates).toEqual([STRONG]);
  });

  it('reads the only identity provider in a list of entities, which may contain lists', () => {
    const provider = samlMetadata({ prefix: '', signaturePrefix: 'ds' }).replace(/^<\?xml.*?\?>/, '');
    const list = (...entities: string[]): string =>
      `<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata">${entities.join('')}</EntitiesDescriptor>`;
    const service = '<EntityDescriptor entityID="sp"><SPSSODescriptor/></EntityDescriptor>';
    for (const xml of [list(provider), list(service, provider, service), list(service, list(provider))])
      expect(readSamlMetadata(parseXml(xml), NOW)).toEqual(read());
    expect(problemOf(list(provider, list(provider)))).toBe(messageAbout(METADATA_ERRORS.several));
    expect(problemOf(list(service))).toBe(METADATA_ERRORS.provider);
    expect(problemOf(list())).toBe(messageAbout(METADATA_ERRORS.descriptor));
  });

  it('prefers HTTP-Redirect and requires an https URL', () => {
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

  it('accepts 10 certificates, and rejects more', () => {
    expect(read({ certificates: Array<string>(10).fill(STRONG) }).certificates).toEqual([STRONG]);
    expect(problem({ certificates: Array<string>(11).fill(STRONG) })).toBe(METADATA_ERRORS.certificates);
  });

  it('keeps each usable certificate once', () => {
    expect(read({ certificates: [EXPIRED, 'AAAA', WEAK, STRONG, P256, STRONG] }).certificates).toEqual([
      STRONG,
    ]);
  });

  it('reads a certificate as it is in a file', () => {
    const pem = `-----BEGIN CERTIFICATE-----\n${STRONG.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
    expect(read({ certificates: [pem] }).certificates).toEqual([STRONG]);
  });

  it('accepts a key without a use, but no encryption key', () => {
    expect(read({ use: '' }).certificates).toEqual([STRONG]);
    expect(problem({ use: ' use="encryption"' })).toBe(METADATA_ERRORS.noCertificate);
  });

  it.each<[what: string, message: string, options: MetadataOptions]>([
    ['a blank entityID', METADATA_ERRORS.entityId, { entityId: ' ' }],
    ['a long entityID', METADATA_ERRORS.entityId, { entityId: 'x'.repeat(1_025) }],
    ['no service', METADATA_ERRORS.service, { services: [] }],
    ['another binding', METADATA_ERRORS.service, { services: [['SOAP', 'https://a.example']] }],
    ['an http URL', METADATA_ERRORS.location, { services: [['HTTP-POST', 'http://a.example']] }],
    ['a javascript URL', METADATA_ERRORS.location, { services: [['HTTP-POST', 'javascript:alert(1)']] }],
    ['a URL without a host', METADATA_ERRORS.location, { services: [['HTTP-POST', 'https://']] }],
    ['an empty URL', METADATA_ERRORS.location, { services: [['HTTP-POST', '']] }],
    ['no certificate', METADATA_ERRORS.noCertificate, { certificates: [] }],
    ['an empty certificate', METADATA_ERRORS.certificate, { certificates: [''] }],
    ['a certificate that is not base64', METADATA_ERRORS.certificate, { certificates: ['no base64!'] }],
    ['a truncated certificate', METADATA_ERRORS.certificate, { certificates: [STRONG.slice(0, 400)] }],
    ['an expired certificate', METADATA_ERRORS.expired, { certificates: [EXPIRED] }],
    ['a key of 1024 bits', METADATA_ERRORS.key, { certificates: [WEAK] }],
    ['a key on P-256', METADATA_ERRORS.key, { certificates: [P256] }],
    ['a key on P-521', METADATA_ERRORS.key, { certificates: [P521] }],
    ['a key on P-224', METADATA_ERRORS.key, { certificates: [P224] }],
    ['a key on secp256k1', METADATA_ERRORS.key, { certificates: [K256] }],
    ['an Ed25519 key', METADATA_ERRORS.key, { certificates: [ED25519] }],
  ])('rejects %s: %s', (_what, message, options) => expect(problem(options)).toBe(message));

  it.each([
    ['nothing', ''],
    ['text', 'metadata'],
    ['no end', samlMetadata().slice(0, -5)],
    ['two roots', `${samlMetadata()}<a/>`],
    ['a prefix that is not declared', samlMetadata().replace('xmlns:md=', 'xmlns:other=')],
    ['a document type', `<!DOCTYPE a [<!ENTITY b "c">]>${samlMetadata()}`],
    ['a document type in small letters', `<!doctype a>${samlMetadata()}`],
    ['entities of entities', `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`],
    ['many beginnings', '<a '.repeat(80_000)],
    ['names that mean something', '<__proto__ constructor="a"><constructor/></__proto__>'],
  ])('rejects malformed XML: %s', (_what, xml) => {
    expect([messageAbout(METADATA_ERRORS.xml), messageAbout(METADATA_ERRORS.descriptor)]).toContain(
      problemOf(xml),
    );
  });

  it.each([
    ['33 levels', `${'<a>'.repeat(33)}${'</a>'.repeat(33)}`],
    ['10,000 levels', `${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`],
    ['10,000 levels with comments between', `${'<a><!--</a>-->'.repeat(10_000)}${'</a>'.repeat(10_000)}`],
    ['5,001 elements', `<a>${'<b/>'.repeat(5_000)}</a>`],
    ['5,001 attributes', `<a${numbered(5_001, (n) => ` b${n}=""`)}/>`],
    ['2,001 namespace declarations', `<a${numbered(2_001, (n) => ` xmlns:b${n}="c"`)}/>`],
    ['3,000 namespace declarations and 12,000 elements', manyNamespaces(3_000, 12_000)],
  ])('rejects a document with %s', (_what, xml) =>
    expect(problemOf(xml)).toBe(messageAbout(METADATA_ERRORS.complexity)),
  );

  it.each([
    ['entity references', '&lt;'],
    ['character references', '&#9;'],
    ['carriage returns', '\r'],
  ])('rejects a document with more than 20,000 %s before it is read, wherever they are', (_what, part) => {
    for (const place of ['<a>…</a>', '<a b="…"/>', '<a>', '<a><!--…--></a>']) {
      const [before = '', after = ''] = place.split('…');
      expect(problemOf(before + part.repeat(20_001) + after)).toBe(messageAbout(METADATA_ERRORS.references));
    }
    expect(problemOf(`<a>${part.repeat(20_000)}</a>`)).toBe(messageAbout(METADATA_ERRORS.descriptor));
  });

  it('reads the largest document that it accepts, and rejects every longest one, in linear time', () => {
    for (const xml of [manyNamespaces(2_000, 4_999), ...LONG_DOCUMENTS]) {
      const time = cpuTimeOf(() => problemOf(xml));
      expect([xml.slice(0, 40), time < 5_000]).toEqual([xml.slice(0, 40), true]);
    }
  });

  it.each([
    ['another root', samlMetadata().replaceAll('EntityDescriptor', 'EntitiesDescriptor')],
    ['another namespace', samlMetadata().replaceAll('SAML:2.0:metadata', 'SAML:1.0:metadata')],
  ])('rejects other documents: %s', (_what, xml) =>
    expect(problemOf(xml)).toBe(messageAbout(METADATA_ERRORS.descriptor)),
  );

  it('requires an identity provider, not a service provider', () => {
    expect(problemOf(samlMetadata().replaceAll('IDPSSODescriptor', 'SPSSODescriptor'))).toBe(
      METADATA_ERRORS.provider,
    );
  });
});

describe('readCertificate', () => {
  it('reads the subject and the validity', () => {
    expect(readCertificate(STRONG)).toMatchObject({
      subject: 'CN=idp.example.com, O=Example Ltd',
      fingerprint: expect.stringMatching(/^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/) as string,
      isStrong: true,
    });
    expect(readCertificate(EXPIRED)?.validTo).toEqual(new Date('2021-01-01T00:00:00.000Z'));
  });

  it('rejects private keys and other text', () => {
    for (const text of [
      '',
      'AAAA',
      '-----BEGIN CERTIFICATE-----',
      Buffer.from('x'.repeat(500)).toString('base64'),
    ])
      expect(readCertificate(text)).toBeUndefined();
  });
});
