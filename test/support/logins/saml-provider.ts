import { randomBytes, randomUUID, webcrypto } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { X509CertificateGenerator } from '@peculiar/x509';
import samlify from 'samlify';
import { rememberSecret } from '../runner/run-directory.js';
import { samlMetadata } from './saml.js';

samlify.setSchemaValidator({ validate: () => Promise.resolve('not checked') });

/** The user who logs in at the provider. */
export interface SamlAccount {
  readonly nameId: string;
  readonly email?: string;
}

/** How a response deviates from a correct one. All of it is signed. */
export interface SamlForgery {
  readonly format?: string;
  readonly audience?: string;
  readonly recipient?: string;
  readonly issuer?: string;
  readonly inResponseTo?: string;
  readonly destination?: string;
  /** Milliseconds by which the clock of the provider is ahead. */
  readonly clock?: number;
  readonly authenticatedAt?: Date;
  readonly status?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly withoutAuthnStatement?: boolean;
  /** The `SessionNotOnOrAfter` of each of several statements. */
  readonly sessionEnds?: readonly string[];
  readonly algorithm?: string;
}

/** The form that the browser sends to the service after a login at the provider. */
export interface SamlForm {
  readonly SAMLResponse: string;
  readonly RelayState: string;
}

interface SamlRequest {
  readonly id: string;
  readonly forceAuthn: boolean;
  readonly relayState: string;
  readonly issuer: string;
}

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2_048,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const DAY = 86_400_000;
const PREFIX = 'urn:oasis:names:tc:SAML:2.0';
const EMAIL = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress';

export const decode = ({ SAMLResponse }: Pick<SamlForm, 'SAMLResponse'>): string =>
  Buffer.from(SAMLResponse, 'base64').toString();
export const encode = (xml: string): string => Buffer.from(xml).toString('base64');

/** A signing certificate of a provider. */
export interface SamlSigner {
  readonly privateKey: string;
  /** DER in base64. */
  readonly certificate: string;
}

export async function newSigner(lifetime = 365 * DAY, namedCurve?: string): Promise<SamlSigner> {
  const algorithm = namedCurve === undefined ? RSA : { name: 'ECDSA', namedCurve, hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${randomUUID()}.example`,
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(Date.now() + lifetime),
    signingAlgorithm: algorithm,
    keys,
  });
  const privateKey = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString(
    'base64',
  );
  return {
    privateKey: `-----BEGIN PRIVATE KEY-----\n${privateKey}\n-----END PRIVATE KEY-----`,
    certificate: Buffer.from(certificate.rawData).toString('base64'),
  };
}

/** Reads the request that the service sends a browser with. */
export function samlRequestOf(url: string | URL): SamlRequest {
  const { searchParams } = new URL(url);
  const relayState = searchParams.get('RelayState') ?? '';
  const xml = inflateRawSync(Buffer.from(searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
  const [, id = ''] = / ID="([^"]+)"/.exec(xml) ?? [];
  const [, issuer = ''] = /<saml:Issuer[^>]*>([^<]+)</.exec(xml) ?? [];
  rememberSecret(relayState);
  return { id, issuer, relayState, forceAuthn: / ForceAuthn="true"/.test(xml) };
}

/**
 * An identity provider that speaks SAML with `samlify`, another implementation than that of the service. Browsers do not visit it:
 * a test asks for the form that it would send.
 */
export class SamlTestProvider {
  readonly entityId = `https://${randomBytes(6).toString('hex')}.example/idp`;
  readonly loginUrl = 'https://idp.example.com/sso';

  private constructor(public signers: readonly SamlSigner[]) {}

  static async create(): Promise<SamlTestProvider> {
    return new SamlTestProvider([await newSigner()]);
  }

  metadata(binding = 'HTTP-Redirect'): string {
    return samlMetadata({
      entityId: this.entityId,
      services: [[binding, this.loginUrl]],
      certificates: this.signers.map(({ certificate }) => certificate),
    });
  }

  /**
   * Returns what the provider sends after a login.
   *
   * @param ours the metadata of the service
   * @param options.encrypts whether the assertion is encrypted with the certificate in them
   */
  async respondTo(
    url: string,
    ours: string,
    account: SamlAccount,
    forgery: SamlForgery = {},
    { encrypts = false, signsMessage = false, signer = this.signers[0] as SamlSigner } = {},
  ): Promise<SamlForm> {
    const request = samlRequestOf(url);
    const { relayState } = request;
    const service = samlify.ServiceProvider({
      metadata: ours,
      ...(signsMessage && { wantMessageSigned: true }),
    });
    const provider = samlify.IdentityProvider({
      entityID: this.entityId,
      privateKey: signer.privateKey,
      signingCert: signer.certificate,
      isAssertionEncrypted: encrypts,
      singleSignOnService: [{ Binding: `${PREFIX}:bindings:HTTP-Redirect`, Location: this.loginUrl }],
      // Without it, the library warns.
      singleLogoutService: [{ Binding: `${PREFIX}:bindings:HTTP-Redirect`, Location: this.loginUrl }],
      requestSignatureAlgorithm: forgery.algorithm ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      loginResponseTemplate: { context: templateOf(forgery), attributes: [] },
    });
    const { context } = await provider.createLoginResponse(
      service,
      { extract: { request: { id: request.id } } },
      'post',
      {},
      {
        relayState,
        customTagReplacement: (template: string) => ({
          id: 'unused',
          context: samlify.SamlLib.replaceTagsByValue(
            template,
            this.tags(
              request,
              service.entityMeta.getAssertionConsumerService('post') as string,
              account,
              forgery,
            ),
          ),
        }),
      },
    );
    return { SAMLResponse: context, RelayState: relayState };
  }

  private tags(
    { id, issuer }: SamlRequest,
    address: string,
    { nameId, email }: SamlAccount,
    forgery: SamlForgery,
  ): Record<string, string> {
    const now = Date.now() + (forgery.clock ?? 0);
    const at = (offset: number): string => new Date(now + offset).toISOString();
    const newId = (): string => `_${randomUUID()}`;
    return {
      ID: newId(),
      AssertionID: newId(),
      Destination: forgery.destination ?? address,
      Audience: forgery.audience ?? issuer,
      SubjectRecipient: forgery.recipient ?? address,
      Issuer: forgery.issuer ?? this.entityId,
      IssueInstant: at(0),
      StatusCode: `${PREFIX}:status:${forgery.status ?? 'Success'}`,
      ConditionsNotBefore: at(0),
      ConditionsNotOnOrAfter: at(300_000),
      SubjectConfirmationDataNotOnOrAfter: at(300_000),
      InResponseTo: forgery.inResponseTo ?? id,
      NameIDFormat: forgery.format ?? `${PREFIX}:nameid-format:persistent`,
      NameID: nameId,
      Email: email ?? '',
      AuthnInstant: (forgery.authenticatedAt ?? new Date(now)).toISOString(),
    };
  }
}

function templateOf({
  attributes = {},
  withoutAuthnStatement = false,
  sessionEnds = [],
}: SamlForgery): string {
  const attribute = (name: string, value: string): string =>
    `<saml:Attribute Name="${name}"><saml:AttributeValue>${value}</saml:AttributeValue></saml:Attribute>`;
  const statement = `<saml:AttributeStatement>${attribute(EMAIL, '{Email}')}${Object.entries(attributes)
    .map(([name, value]) => attribute(name, value))
    .join('')}</saml:AttributeStatement>`;
  const authenticationWith = (end: string): string =>
    `<saml:AuthnStatement AuthnInstant="{AuthnInstant}"${end}><saml:AuthnContext><saml:AuthnContextClassRef>` +
    `${PREFIX}:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`;
  const ends = sessionEnds.map((end) => ` SessionNotOnOrAfter="${end}"`);
  const authentication = withoutAuthnStatement
    ? ''
    : (ends.length === 0 ? [''] : ends).map(authenticationWith).join('');
  return samlify.SamlLib.defaultLoginResponseTemplate.context
    .replace('{AuthnStatement}', authentication)
    .replace('{AttributeStatement}', statement);
}
