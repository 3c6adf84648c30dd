import { Injectable } from '@nestjs/common';
import type { CacheProvider, SAML, SamlConfig } from '@node-saml/node-saml';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import {
  IdentityProvider,
  nameIn,
  type BegunRequest,
  type Freshness,
  type LoginSecrets,
  type ProviderIdentity,
} from '../logins/identity-provider.js';
import { RefusedLogin } from '../logins/refused-login.js';
import { SamlKeysService, type OwnKey } from './saml-keys.service.js';
import { MAX_CERTIFICATES } from './saml-metadata.js';
import {
  ASSERTION,
  checkDecrypted,
  checkResponse,
  CLOCK_TOLERANCE,
  NOT_DECRYPTED,
  readAssertion,
  reasonOfLibrary,
  TOO_LARGE,
  WITHOUT_FRESH_LOGIN,
  type ExpectedResponse,
  type SignedAssertion,
} from './saml-response.js';

/** Bytes of the XML. */
const MAX_RESPONSE_SIZE = 262_144;
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const MAX_EMAIL_LENGTH = 254;
/** The attributes with the email address that identity providers send, in lowercase. */
const EMAIL_ATTRIBUTES = new Set([
  'email',
  'emailaddress',
  'mail',
  'user.email',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'urn:oid:1.2.840.113549.1.9.1',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
]);

/** Loading the libraries takes time and memory, which processes without SAML save. */
const nodeSaml = () => import('@node-saml/node-saml');

/**
 * Identity providers that speak SAML 2.0. The library `@node-saml/node-saml` checks signatures, audience and periods;
 * `saml-response.ts` checks before and after it what the library does not check safely.
 */
@Injectable()
export class SamlProvider extends IdentityProvider {
  constructor(
    private readonly keys: SamlKeysService,
    private readonly publicAddress: PublicAddress,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** The address of ours that the provider sends responses to. One per configuration, so that two cannot be mixed up. */
  override address(configurationId: string): string {
    return `${this.publicAddress.of('dashboard')}/sso/saml/${configurationId}`;
  }

  /** Our entity ID, which is also the address of our metadata (SAML 2.0 metadata, section 4.1). */
  entityId(configurationId: string): string {
    return `${this.address(configurationId)}/metadata`;
  }

  /** Returns our metadata for the provider: XML. */
  async metadata(configurationId: string): Promise<string> {
    const { generateServiceProviderMetadata } = await nodeSaml();
    const keys = await this.keys.keysOf(configurationId);
    const newest = keys.at(-1) as OwnKey;
    return generateServiceProviderMetadata({
      issuer: this.entityId(configurationId),
      callbackUrl: this.address(configurationId),
      identifierFormat: null,
      wantAssertionsSigned: true,
      privateKey: newest.privateKey,
      publicCerts: keys.map(({ certificate }) => certificate),
      decryptionPvk: newest.privateKey,
      decryptionCert: newest.certificate,
    });
  }

  override async begin(
    configuration: SsoConfiguration,
    secrets: LoginSecrets,
    { isFresh }: Freshness,
  ): Promise<BegunRequest> {
    const [oldest] = await this.keys.keysOf(configuration.id);
    const saml = await this.saml(configuration, secrets, {
      forceAuthn: isFresh,
      ...(oldest && signedWith(oldest)),
    });
    const { state } = secrets;
    if (configuration.ssoBinding === REDIRECT)
      return { url: await saml.getAuthorizeUrlAsync(state, undefined, {}) };
    const fields = await saml.getAuthorizeMessageAsync(state);
    return { url: configuration.ssoUrl, fields: fields as Record<string, string> };
  }

  /** @param response the form field `SAMLResponse` */
  override async finish(
    configuration: SsoConfiguration,
    secrets: LoginSecrets,
    response: string,
    { isFresh, startedAt }: Freshness & { readonly startedAt: Date },
  ): Promise<ProviderIdentity> {
    const bytes = Buffer.from(response, 'base64');
    if (bytes.length > MAX_RESPONSE_SIZE) throw new RefusedLogin(TOO_LARGE);
    const expected: ExpectedResponse = {
      issuer: configuration.entityId,
      address: this.address(configuration.id),
      requestId: requestIdOf(secrets),
      certificates: configuration.certificates,
    };
    const xml = bytes.toString('utf8');
    const { isEncrypted } = checkResponse(xml, expected);
    const readable = isEncrypted ? await this.decrypted(xml, configuration.id, expected) : xml;
    const saml = await this.saml(configuration, secrets, {});
    const signedXml = await verified(saml, readable);
    const assertion = readAssertion(signedXml, expected, this.clock.now());
    if (isFresh && assertion.authenticatedAt.getTime() < startedAt.getTime() - CLOCK_TOLERANCE)
      throw new RefusedLogin(WITHOUT_FRESH_LOGIN);
    return identityFrom(configuration.entityId, assertion);
  }

  private async saml(
    configuration: SsoConfiguration,
    secrets: LoginSecrets,
    options: Partial<SamlConfig>,
  ): Promise<SAML> {
    const { SAML: Library, ValidateInResponseTo } = await nodeSaml();
    const requestId = requestIdOf(secrets);
    return new Library({
      issuer: this.entityId(configuration.id),
      audience: this.entityId(configuration.id),
      callbackUrl: this.address(configuration.id),
      entryPoint: configuration.ssoUrl,
      idpIssuer: configuration.entityId,
      // Metadata that was stored before the limit may have more.
      idpCert: configuration.certificates.slice(0, MAX_CERTIFICATES),
      identifierFormat: null,
      disableRequestedAuthnContext: true,
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: false,
      signatureAlgorithm: 'sha256',
      digestAlgorithm: 'sha256',
      acceptedClockSkewMs: CLOCK_TOLERANCE,
      generateUniqueId: () => requestId,
      validateInResponseTo: ValidateInResponseTo.always,
      cacheProvider: new OneRequest(requestId, this.clock.now()),
      ...options,
    });
  }

  /**
   * Returns the response with the assertion in the place of the encrypted one. A signature of the response is left out: only that
   * of the assertion counts.
   *
   * @throws RefusedLogin
   */
  private async decrypted(xml: string, configurationId: string, expected: ExpectedResponse): Promise<string> {
    const { DOMParser, XMLSerializer } = await import('@xmldom/xmldom');
    const document = new DOMParser().parseFromString(xml, 'text/xml');
    const encrypted = document.getElementsByTagNameNS(ASSERTION, 'EncryptedAssertion').item(0) as Element;
    for (const { privateKey } of await this.keys.keysOf(configurationId)) {
      const assertion = await decrypt(encrypted.toString(), privateKey);
      if (assertion === undefined) continue;
      checkDecrypted(assertion, expected);
      const parsed = new DOMParser().parseFromString(assertion, 'text/xml').documentElement;
      for (const child of Array.from(document.documentElement.childNodes))
        if (child === encrypted)
          document.documentElement.replaceChild(document.importNode(parsed, true), child);
        else if (child.nodeName.endsWith('Signature')) document.documentElement.removeChild(child);
      return new XMLSerializer().serializeToString(document);
    }
    throw new RefusedLogin(NOT_DECRYPTED);
  }
}

/**
 * What the library knows about requests: the one of this login, which PostgreSQL keeps as a row of `sso_attempt` and lets only
 * one response use.
 */
class OneRequest implements CacheProvider {
  constructor(
    private readonly requestId: string,
    private readonly createdAt: Date,
  ) {}

  saveAsync(): Promise<null> {
    return Promise.resolve(null);
  }

  getAsync(key: string): Promise<string | null> {
    return Promise.resolve(key === this.requestId ? this.createdAt.toISOString() : null);
  }

  removeAsync(): Promise<null> {
    return Promise.resolve(null);
  }
}

const signedWith = ({ privateKey, certificate }: OwnKey): Partial<SamlConfig> => ({
  privateKey,
  publicCert: certificate,
});

/** An ID in XML must not begin with a digit. */
function requestIdOf({ nonce }: LoginSecrets): string {
  return `_${nonce}`;
}

/** Returns the bytes of the assertion that its signature covers. @throws RefusedLogin */
async function verified(saml: SAML, response: string): Promise<string> {
  try {
    const SAMLResponse = Buffer.from(response).toString('base64');
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse });
    return profile?.getAssertionXml?.() ?? '';
  } catch (error) {
    throw new RefusedLogin(reasonOfLibrary((error as Error).message));
  }
}

/** Returns undefined if the key is not the right one. */
async function decrypt(encrypted: string, key: string): Promise<string | undefined> {
  const library = await import('xml-encryption');
  // `checkResponse` has checked the algorithms. Okta and AD FS encrypt in the mode CBC by default.
  const options = { key, disallowDecryptionWithInsecureAlgorithm: false, warnInsecureAlgorithm: false };
  return new Promise((resolve) => {
    library.decrypt(encrypted, options, (error, text) => resolve(error ? undefined : text));
  });
}

function identityFrom(issuer: string, assertion: SignedAssertion): ProviderIdentity {
  const { nameId, nameIdFormat, authenticatedAt, attributes } = assertion;
  const [attribute] = Object.entries(attributes).flatMap(([name, values]) =>
    EMAIL_ATTRIBUTES.has(name.toLowerCase()) ? values : [],
  );
  const email = attribute ?? (nameIdFormat === 'emailAddress' ? nameId : '');
  return {
    issuer,
    subject: nameId,
    email: email !== '' && email.length <= MAX_EMAIL_LENGTH ? email.toLowerCase() : undefined,
    // Only the identity provider of the organization that proved the domain can sign it.
    isEmailVerified: true,
    name: nameIn(attributes),
    authenticatedAt,
    claims: { NameID: nameId, 'NameID format': nameIdFormat, ...attributes },
  };
}
