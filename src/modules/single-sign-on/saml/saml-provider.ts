import { Injectable } from '@nestjs/common';
import type { SamlConfig } from '@node-saml/node-saml';
import { PublicAddress } from '../../../infrastructure/http/index.js';
import { lazyModule } from '../../../infrastructure/lazy-values/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { SsoConfiguration } from '../sso-configuration.entity.js';
import { isMailbox, lowerCaseOf, mailboxIn, nameIn, subjectIn } from '../identity-claims.js';
import {
  PROVIDER_CLOCK_TOLERANCE,
  IdentityProvider,
  RefusedLogin,
  type BegunRequest,
  type LoginOptions,
  type LoginSecrets,
  type ProviderIdentity,
} from '../identity-provider.js';
import { MAX_CERTIFICATES } from './saml-metadata.js';
import { SamlKeysService, type OwnKey } from './saml-keys.service.js';
import {
  ASSERTION,
  checkDecrypted,
  checkResponse,
  NOT_DECRYPTED,
  readAssertion,
  reasonOfLibrary,
  RESPONSE_LIMITS,
  rootOf,
  TOO_LARGE,
  WITHOUT_FRESH_LOGIN,
  type ExpectedResponse,
  type SignedAssertion,
} from './saml-response.js';
import { SamlFailure, SamlWorker } from './saml-worker.js';
import type { XmlElement } from './xml.js';

/** Bytes of the XML. */
const MAX_RESPONSE_SIZE = 262_144;
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
/** The attributes with the email address that identity providers send, in lowercase. */
const EMAIL_ATTRIBUTES = new Set([
  'email',
  'emailaddress',
  'email_address',
  'e-mail',
  'mail',
  'primaryemail',
  'user.email',
  'user_email',
  'useremail',
  'urn:mace:dir:attribute-def:mail',
  'urn:oid:0.9.2342.19200300.100.1.3',
  'urn:oid:1.2.840.113549.1.9.1',
  'http://schemas.xmlsoap.org/claims/emailaddress',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/email',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
]);

/** Loading the libraries takes time and memory, which processes without SAML save. */
const nodeSaml = lazyModule<typeof import('@node-saml/node-saml')>('@node-saml/node-saml', import.meta.url);

/**
 * Identity providers that speak SAML 2.0. The library `@node-saml/node-saml` checks signatures, audience and periods in a thread of
 * its own (`SamlWorker`); `saml-response.ts` checks before and after it what the library does not check safely.
 */
@Injectable()
export class SamlProvider extends IdentityProvider {
  constructor(
    private readonly keys: SamlKeysService,
    private readonly worker: SamlWorker,
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

  /** Returns what the provider must know about the service. */
  addresses(configurationId: string): { readonly metadataUrl: string; readonly address: string } {
    return { metadataUrl: this.entityId(configurationId), address: this.address(configurationId) };
  }

  /** Returns our metadata for the provider: XML. */
  async metadata(configurationId: string): Promise<string> {
    const { generateServiceProviderMetadata } = nodeSaml();
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
    { forceLogin }: LoginOptions,
  ): Promise<BegunRequest> {
    const [oldest] = await this.keys.keysOf(configuration.id);
    const requestId = requestIdOf(secrets);
    const { SAML } = nodeSaml();
    const saml = new SAML({
      ...this.optionsFor(configuration),
      forceAuthn: forceLogin,
      generateUniqueId: () => requestId,
      ...(oldest && { privateKey: oldest.privateKey, publicCert: oldest.certificate }),
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
    startedAt: Date,
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
    const { isEncrypted } = checkResponse(await this.parse(xml, configuration), expected);
    const decrypted = isEncrypted ? await this.decrypted(xml, configuration, expected) : undefined;
    const signedXml = await this.verified(xml, decrypted, configuration, expected);
    const signed = await this.parse(signedXml, configuration);
    const assertion = readAssertion(signed, expected, this.clock.now());
    return identityFrom(configuration.entityId, assertion, startedAt);
  }

  private optionsFor(configuration: SsoConfiguration): SamlConfig {
    return {
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
      acceptedClockSkewMs: PROVIDER_CLOCK_TOLERANCE,
    };
  }

  /** @throws RefusedLogin */
  private async parse(xml: string, { organizationId }: SsoConfiguration): Promise<XmlElement> {
    return rootOf(
      await this.worker.run(organizationId, 'parse', xml, RESPONSE_LIMITS, { refusesComments: true }),
    );
  }

  /** Returns the assertion that was encrypted, after the same checks as those of one that was not. @throws RefusedLogin */
  private async decrypted(
    xml: string,
    configuration: SsoConfiguration,
    expected: ExpectedResponse,
  ): Promise<string> {
    const { id, organizationId } = configuration;
    const keys = (await this.keys.keysOf(id)).map(({ privateKey }) => privateKey);
    const assertion = await this.worker.run(organizationId, 'decrypt', xml, ASSERTION, keys);
    if (assertion === undefined) throw new RefusedLogin(NOT_DECRYPTED);
    checkDecrypted(await this.parse(assertion, configuration), expected);
    return assertion;
  }

  /** Returns the bytes of the assertion that its signature covers. @throws RefusedLogin */
  private async verified(
    response: string,
    decrypted: string | undefined,
    configuration: SsoConfiguration,
    { requestId }: ExpectedResponse,
  ): Promise<string> {
    const requestedAt = this.clock.now();
    const options = this.optionsFor(configuration);
    try {
      const verification = { response, decrypted, requestId, requestedAt, options };
      return await this.worker.run(configuration.organizationId, 'verify', verification);
    } catch (error) {
      throw error instanceof SamlFailure ? new RefusedLogin(reasonOfLibrary(error.message)) : error;
    }
  }
}

/** An ID in XML must not begin with a digit. */
function requestIdOf({ nonce }: LoginSecrets): string {
  return `_${nonce}`;
}

function identityFrom(issuer: string, assertion: SignedAssertion, startedAt: Date): ProviderIdentity {
  const { nameId, nameIdFormat, authenticatedAt, sessionEndsAt, attributes } = assertion;
  const isAddress = nameIdFormat === 'emailAddress';
  // Google, for example, sends the address in this format unless its settings name another one.
  const isUnspecified = ['', 'unspecified'].includes(nameIdFormat) && isMailbox(nameId);
  const attribute = Object.entries(attributes)
    .flatMap(([name, values]) => (EMAIL_ATTRIBUTES.has(name.toLowerCase()) ? values : []))
    .find((value) => value !== '');
  return {
    issuer,
    // Providers spell the same address differently after somebody has edited it.
    subject: subjectIn(isAddress ? lowerCaseOf(nameId) : nameId),
    ignoresCase: isAddress,
    email: mailboxIn(attribute ?? (isAddress || isUnspecified ? nameId : undefined)),
    // Only the identity provider of the organization that proved the domain can sign it.
    isEmailVerified: true,
    name: nameIn(attributes),
    authenticatedAt,
    sessionEndsAt,
    recencyProblem:
      authenticatedAt.getTime() < startedAt.getTime() - PROVIDER_CLOCK_TOLERANCE
        ? WITHOUT_FRESH_LOGIN
        : undefined,
    claims: { NameID: nameId, 'NameID format': nameIdFormat, ...attributes },
  };
}
