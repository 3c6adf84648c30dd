import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Sealer, sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction, unlessOwnFailure, type NewRow } from '../../../infrastructure/database/index.js';
import { NOT_FOUND } from '../../../infrastructure/errors/index.js';
import { rateLimitKeyOfAddress } from '../../../infrastructure/http/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR } from '../../../infrastructure/time/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import {
  HOME,
  IdentityProviders,
  type BegunLogin,
  type LoginBrowser,
  type ProviderLogin,
} from '../../dashboard-login/index.js';
import { SsoConfiguration } from '../sso-configuration.entity.js';
import { OpenidProvider } from '../openid/openid-provider.js';
import { SamlProvider } from '../saml/saml-provider.js';
import { SsoSettingsRepository } from '../settings/sso-settings.repository.js';
import { RefusedLogin, type IdentityProvider } from '../identity-provider.js';
import { SsoAttempt } from '../sso-attempt.entity.js';
import { SsoAttemptsRepository } from './sso-attempts.repository.js';
import { begunAfter, newSecrets, ownerOfSecrets } from './login-secrets.js';

/** Of attempts with an email address or a tester, and as many of the others. */
const SHOWN_ATTEMPTS = 20;
/** The properties of a login that begins. */
export interface Beginning extends LoginBrowser {
  readonly email?: string;
  readonly next: string;
  readonly forceLogin: boolean;
  readonly testerId: string | null;
  readonly hasRoleScopes?: boolean;
}

/** Begins logins at the identity providers of organizations. `SsoResponsesService` finishes them. */
@Injectable()
export class SsoLoginsService extends IdentityProviders {
  private readonly begun = this.limits.limit('sso-begin', { attempts: 600, within: HOUR });

  constructor(
    private readonly transaction: Transaction,
    private readonly attempts: SsoAttemptsRepository,
    private readonly openid: OpenidProvider,
    private readonly saml: SamlProvider,
    private readonly domains: AllowlistedDomainsService,
    private readonly settings: SsoSettingsRepository,
    private readonly limits: AttemptLimitsRepository,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async serve(email: string): Promise<boolean> {
    return (await this.configurationFor(email)) !== null;
  }

  override async begin({ email, target, ...from }: ProviderLogin): Promise<BegunLogin | undefined> {
    const configuration = await this.configurationFor(email);
    if (!configuration) return undefined;
    const { next, again } = target;
    const forceLogin = again !== undefined && again !== 'code';
    return this.start(configuration, { ...from, email, next, forceLogin, testerId: null });
  }

  /** Begins a login that only shows what it would do. */
  async beginTest(
    configuration: SsoConfiguration,
    { userId }: DashboardActor,
    from: LoginBrowser,
  ): Promise<BegunLogin> {
    return this.start(configuration, { ...from, next: '', forceLogin: true, testerId: userId });
  }

  /** Returns our metadata for a SAML provider: XML. @throws ApiError NOT_FOUND */
  async metadata(configurationId: string): Promise<string> {
    const configuration = await this.find(configurationId);
    if (configuration?.protocol !== 'saml') throw NOT_FOUND.error();
    return this.saml.metadata(configuration.id);
  }

  /** Returns the enabled provider that a login can begin at, for the page that asks the user to continue. */
  async suggested(configurationId: string): Promise<SsoConfiguration | undefined> {
    const configuration = await this.find(configurationId);
    return configuration?.enabledAt ? configuration : undefined;
  }

  /** Begins a login without an address: for a response without a request, or a user whose domain is not proved. @returns undefined if the provider is not enabled */
  async beginAt(configurationId: string, from: LoginBrowser): Promise<BegunLogin | undefined> {
    const configuration = await this.suggested(configurationId);
    if (!configuration) return undefined;
    return this.start(configuration, { ...from, next: HOME, forceLogin: false, testerId: null });
  }

  /** Returns the newest attempts first, without those that are still at the provider. */
  async listAttempts(configurationId: string): Promise<SsoAttempt[]> {
    const finished = { configurationId, finishedAt: Not(IsNull()) };
    const named = [
      { ...finished, email: Not(IsNull()) },
      { ...finished, testerId: Not(IsNull()) },
    ];
    const others = { ...finished, email: IsNull(), testerId: IsNull() };
    const page = { order: { finishedAt: 'DESC', id: 'ASC' }, take: SHOWN_ATTEMPTS } as const;
    const found = [
      ...(await this.transaction.manager.find(SsoAttempt, { where: named, ...page })),
      ...(await this.transaction.manager.find(SsoAttempt, { where: others, ...page })),
    ];
    return found.toSorted((left, right) => Number(right.finishedAt) - Number(left.finishedAt));
  }

  private async configurationFor(email: string): Promise<SsoConfiguration | null> {
    const organizationId = await this.domains.organizationOf(email);
    return organizationId === undefined ? null : this.settings.findEnabled(organizationId);
  }

  find(id: string): Promise<SsoConfiguration | null> {
    return this.transaction.findById(SsoConfiguration, { id });
  }

  providerOf({ protocol }: SsoConfiguration): IdentityProvider {
    return protocol === 'saml' ? this.saml : this.openid;
  }

  async start(configuration: SsoConfiguration, beginning: Beginning): Promise<BegunLogin> {
    const { origin } = beginning;
    const address = rateLimitKeyOfAddress(origin.ip);
    const wait = await this.begun.count(address);
    if (wait !== undefined) throw tooManyAttempts(wait);
    return unlessOwnFailure(
      () => this.begun.subtract(address),
      () => this.store(configuration, beginning),
    );
  }

  private async store(
    configuration: SsoConfiguration,
    { browser, email, next, forceLogin, testerId, hasRoleScopes }: Beginning,
  ): Promise<BegunLogin> {
    const now = this.clock.now();
    await this.attempts.trim(configuration.id, begunAfter(now), SHOWN_ATTEMPTS);
    const secrets = { ...newSecrets(), ...(hasRoleScopes === false && { hasRoleScopes }) };
    const id = randomUUID();
    const attempt: NewRow<SsoAttempt> = {
      id,
      configurationId: configuration.id,
      configurationRevision: configuration.revision,
      stateHash: sha256(secrets.state),
      browser: sha256(browser),
      secretsSealed: this.sealer.seal(JSON.stringify(secrets), ownerOfSecrets(id)),
      next,
      forceLogin,
      testerId,
      createdAt: now,
    };
    try {
      const provider = this.providerOf(configuration);
      const begun = await provider.begin(configuration, secrets, { forceLogin, ...(email && { email }) });
      await this.transaction.manager.insert(SsoAttempt, attempt);
      return begun;
    } catch (error) {
      if (!(error instanceof RefusedLogin)) throw error;
      // The address is what someone typed, not the address of a person at the provider, so it is not recorded.
      const failed = { ...attempt, next: '', finishedAt: attempt.createdAt, problem: error.message };
      await this.transaction.manager.insert(SsoAttempt, failed);
      return { problem: 'The identity provider of your organization cannot be used at the moment.' };
    }
  }
}
