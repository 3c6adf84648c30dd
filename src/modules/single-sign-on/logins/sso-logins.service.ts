import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { IsNull, MoreThan, Not } from 'typeorm';
import type { DashboardActor, DashboardIdentity } from '../../../infrastructure/auth/index.js';
import { Sealer, sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction, type NewRow } from '../../../infrastructure/database/index.js';
import { NOT_FOUND } from '../../../infrastructure/errors/index.js';
import { rateLimitKeyOfAddress, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { AllowlistedDomainsService } from '../../allowlisted-domains/index.js';
import {
  HOME,
  IdentityProviders,
  LoginService,
  type BegunLogin,
  type LoginBrowser,
  type OpenedLogin,
  type ProviderLogin,
} from '../../dashboard-login/index.js';
import { SsoConfiguration } from '../configurations/sso-configuration.entity.js';
import { OpenidProvider } from '../openid/openid-provider.js';
import { SamlProvider } from '../saml/saml-provider.js';
import { SsoSettingsRepository } from '../settings/sso-settings.repository.js';
import {
  REASONS,
  RefusedLogin,
  type IdentityProvider,
  type LoginSecrets,
  type ProviderIdentity,
} from './identity-provider.js';
import { SsoAttempt } from './sso-attempt.entity.js';
import { SsoAttemptsRepository } from './sso-attempts.repository.js';
import { SsoUsersService, type Person } from './sso-users.service.js';

/** Milliseconds for the login at the provider. */
const ATTEMPT_LIFETIME = 10 * MINUTE;
const SHOWN_ATTEMPTS = 20;
/** 32 random bytes in base64url. */
const STATE = /^[\w-]{43}$/;

interface ProviderResponse extends LoginBrowser {
  readonly configurationId: string;
  readonly state: string;
  readonly query: string;
  /** The user who is logged in already. */
  readonly user: DashboardIdentity | undefined;
  /** The token of the browser's current session, which the new session replaces. */
  readonly replacing: string | undefined;
}

/** A response that the provider made the browser send with a form. */
interface ReceivedResponse {
  readonly configurationId: string;
  readonly state: string;
  /** The form field with the response. */
  readonly response: string;
  readonly origin: RequestOrigin;
}

export interface TestResult {
  readonly claims: ProviderIdentity['claims'];
  readonly person?: Person;
  readonly problem?: string;
  /** Why the login does not prove that the person logged in just now, although it was requested. */
  readonly recencyProblem?: string | undefined;
}

/** How a login ended. */
type FinishedLogin =
  | { readonly opened: OpenedLogin; readonly next: string }
  | { readonly test: TestResult; readonly configuration: SsoConfiguration }
  | { readonly problem: string };

/** What a login needs to know about its beginning. */
interface Beginning extends LoginBrowser {
  readonly email?: string;
  readonly next: string;
  readonly forceLogin: boolean;
  readonly testerId: string | null;
}

/** Logs users in through the identity provider of their organization. */
@Injectable()
export class SsoLoginsService extends IdentityProviders {
  private readonly begun = this.limits.limit('sso-begin', { attempts: 600, within: HOUR });
  /** Refused responses of a configuration from an address: checking a signature takes time. */
  private readonly refused = this.limits.limit('sso-refused', { attempts: 30, within: HOUR });

  constructor(
    private readonly transaction: Transaction,
    private readonly attempts: SsoAttemptsRepository,
    private readonly openid: OpenidProvider,
    private readonly saml: SamlProvider,
    private readonly domains: AllowlistedDomainsService,
    private readonly people: SsoUsersService,
    private readonly settings: SsoSettingsRepository,
    private readonly logins: LoginService,
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
    const forceLogin = again !== undefined;
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

  /** Returns whether the text can be the state of a login that began here. */
  isState(text: string): boolean {
    return STATE.test(text);
  }

  isTest(state: string): Promise<boolean> {
    return this.transaction.manager.existsBy(SsoAttempt, {
      stateHash: sha256(state),
      testerId: Not(IsNull()),
    });
  }

  /** Returns the enabled provider that a login can begin at, for the page that asks the user to continue. */
  async suggested(configurationId: string): Promise<SsoConfiguration | undefined> {
    const configuration = await this.find(configurationId);
    return configuration?.protocol === 'saml' && configuration.enabledAt ? configuration : undefined;
  }

  /** Begins a login at a provider that sent a response without a request. @returns undefined if it is not enabled */
  async beginAt(configurationId: string, from: LoginBrowser): Promise<BegunLogin | undefined> {
    const configuration = await this.suggested(configurationId);
    if (!configuration) return undefined;
    return this.start(configuration, { ...from, next: HOME, forceLogin: false, testerId: null });
  }

  /**
   * Accepts a response that the provider made the browser send with a form, once. Browsers send no cookies with a form of another
   * site, so the login is finished by the request that follows, which shows that it began in the same browser.
   *
   * @returns the state of that request, or why the response was refused
   */
  async receive({
    configurationId,
    state,
    response,
    origin,
  }: ReceivedResponse): Promise<{ readonly state: string } | { readonly problem: string }> {
    const secrets = newSecrets();
    // The state is replaced, so that the form is accepted once.
    const next = { stateHash: sha256(secrets.state), receivedAt: this.clock.now() };
    const attempt = await this.consume({ configurationId, stateHash: sha256(state) }, next);
    const configuration = attempt && (await this.find(configurationId));
    if (!configuration) return { problem: REASONS.unknown };
    // A configuration that was changed has a count of its own, so that the users of a repaired one can log in.
    const { id, entityId, ssoUrl, certificates } = configuration;
    const address = rateLimitKeyOfAddress(origin.ip);
    const counted = JSON.stringify([id, entityId, ssoUrl, certificates, address]);
    // An admin who tests a configuration must be able to repair it.
    const isTest = attempt.testerId !== null;
    try {
      const wait = isTest ? undefined : await this.refused.count(counted);
      if (wait !== undefined) throw tooManyAttempts(wait);
      const identity = await this.verify(configuration, attempt, response);
      if (!isTest) await this.refused.subtract(counted);
      const stored = JSON.stringify({ ...identity, staleness: identity.recencyProblem });
      const secretsSealed = this.sealer.seal(stored, ownerOfSecrets(attempt.id));
      await this.transaction.manager.update(SsoAttempt, { id: attempt.id }, { secretsSealed });
      return { state: secrets.state };
    } catch (error) {
      const problem = problemOf(error);
      await this.settle(attempt.id, { email: null, problem, finishedAt: this.clock.now() });
      if (!(error instanceof RefusedLogin)) throw error;
      return { problem };
    }
  }

  /** Accepts the response of a provider, once. */
  async finish(response: ProviderResponse): Promise<FinishedLogin> {
    const { configurationId, state, browser } = response;
    const expected = { configurationId, stateHash: sha256(state), browser: sha256(browser) };
    const attempt = await this.consume(expected, { finishedAt: this.clock.now() });
    const configuration = attempt && (await this.find(attempt.configurationId));
    if (!configuration) return { problem: REASONS.unknown };
    let identity: ProviderIdentity | undefined;
    try {
      const { testerId } = attempt;
      if (testerId === null && !configuration.enabledAt) throw new RefusedLogin(REASONS.disabled);
      if (testerId !== null && testerId !== response.user?.userId)
        throw new RefusedLogin(REASONS.otherTester);
      identity = attempt.receivedAt
        ? identityIn(this.decryptSecrets(attempt))
        : await this.verify(configuration, attempt, response.query);
      const person = await this.people.find(configuration, identity);
      const { email = null } = identity;
      if (testerId !== null) {
        const { claims, recencyProblem } = identity;
        const tested = { testedAt: this.clock.now(), recencyProblem: recencyProblem ?? null };
        await this.transaction.manager.update(SsoConfiguration, { id: configuration.id }, tested);
        await this.settle(attempt.id, { email, problem: null });
        return { test: { claims, person, recencyProblem }, configuration };
      }
      const opened = await this.openSession(configuration, identity, person, response, attempt.forceLogin);
      await this.settle(attempt.id, { email, problem: null });
      return { opened, next: attempt.next };
    } catch (error) {
      const problem = problemOf(error);
      await this.settle(attempt.id, { email: identity?.email ?? null, problem });
      if (!(error instanceof RefusedLogin)) throw error;
      if (attempt.testerId === null || !identity) return { problem };
      return { test: { claims: identity.claims, problem }, configuration };
    }
  }

  /** Returns the newest attempts first, without those that are still at the provider. */
  async listAttempts(configurationId: string): Promise<SsoAttempt[]> {
    return this.transaction.manager.find(SsoAttempt, {
      where: { configurationId, finishedAt: Not(IsNull()) },
      order: { finishedAt: 'DESC', id: 'ASC' },
      take: SHOWN_ATTEMPTS,
    });
  }

  private async configurationFor(email: string): Promise<SsoConfiguration | null> {
    const organizationId = await this.domains.organizationOf(email);
    return organizationId === undefined ? null : this.settings.findEnabled(organizationId);
  }

  private async find(id: string): Promise<SsoConfiguration | null> {
    return isUUID(id) ? this.transaction.manager.findOneBy(SsoConfiguration, { id }) : null;
  }

  private providerOf({ protocol }: SsoConfiguration): IdentityProvider {
    return protocol === 'saml' ? this.saml : this.openid;
  }

  private async start(configuration: SsoConfiguration, beginning: Beginning): Promise<BegunLogin> {
    const { origin, browser, email, next, forceLogin, testerId } = beginning;
    const wait = await this.begun.count(rateLimitKeyOfAddress(origin.ip));
    if (wait !== undefined) throw tooManyAttempts(wait);
    const now = this.clock.now();
    await this.attempts.trim(configuration.id, begunAfter(now), SHOWN_ATTEMPTS);
    const secrets = newSecrets();
    const id = randomUUID();
    const attempt: NewRow<SsoAttempt> = {
      id,
      configurationId: configuration.id,
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
      // The address is that of whoever typed it, not of a person at the provider, so it is not recorded.
      const failed = { ...attempt, finishedAt: attempt.createdAt, problem: error.message };
      await this.transaction.manager.insert(SsoAttempt, failed);
      return { problem: 'The identity provider of your organization cannot be used at the moment.' };
    }
  }

  /** Returns the attempt that a response belongs to, changed: to only one of several concurrent requests. */
  private async consume(
    expected: Pick<SsoAttempt, 'configurationId' | 'stateHash'> & Partial<Pick<SsoAttempt, 'browser'>>,
    changes: Partial<SsoAttempt>,
  ): Promise<SsoAttempt | null> {
    if (!isUUID(expected.configurationId)) return null;
    const open = { ...expected, finishedAt: IsNull(), createdAt: MoreThan(begunAfter(this.clock.now())) };
    if (!(await this.transaction.updateRow(SsoAttempt, open, changes))) return null;
    const stateHash = changes.stateHash ?? expected.stateHash;
    return this.transaction.manager.findOneBy(SsoAttempt, { stateHash });
  }

  /** Stores the outcome, and forgets the secrets and what the response said. */
  private async settle(
    id: string,
    outcome: Pick<SsoAttempt, 'email' | 'problem'> & Partial<Pick<SsoAttempt, 'finishedAt'>>,
  ): Promise<void> {
    const settled = { ...outcome, secretsSealed: Buffer.alloc(0) };
    await this.transaction.manager.update(SsoAttempt, { id }, settled);
  }

  private async verify(
    configuration: SsoConfiguration,
    attempt: SsoAttempt,
    response: string,
  ): Promise<ProviderIdentity> {
    const secrets = JSON.parse(this.decryptSecrets(attempt)) as LoginSecrets;
    return this.providerOf(configuration).finish(configuration, secrets, response, attempt.createdAt);
  }

  private decryptSecrets({ id, secretsSealed }: SsoAttempt): string {
    return this.sealer.open(secretsSealed, ownerOfSecrets(id));
  }

  private async openSession(
    configuration: SsoConfiguration,
    identity: ProviderIdentity,
    person: Person,
    { origin, browser, replacing }: ProviderResponse,
    forceLogin: boolean,
  ): Promise<OpenedLogin> {
    const now = this.clock.milliseconds();
    const needsSecondFactor = forceLogin && identity.recencyProblem !== undefined;
    if (needsSecondFactor && !person.user?.totpEnabledAt)
      throw new RefusedLogin(`${identity.recencyProblem} ${REASONS.secondFactorHelps}`);
    // A provider that does not say when the person logged in does not prove a recent login. The second step does.
    const atProvider = identity.authenticatedAt?.getTime() ?? now - HOUR;
    const authenticatedAt = new Date(needsSecondFactor ? now : Math.min(atProvider, now));
    const { id: userId } = await this.people.provision(configuration, identity, person, origin);
    const setting = await this.settings.get(configuration.organizationId);
    const isTwoFactor = setting.isTwoFactor && !needsSecondFactor;
    const login = { userId, authenticatedAt, isTwoFactor, needsSecondFactor, origin, browser, replacing };
    const opened = await this.logins.logInFromProvider(login);
    if (!opened) throw new RefusedLogin(REASONS.userDisabled);
    return opened;
  }
}

/** Returns when a login that can still be finished began at the earliest. */
function begunAfter(now: Date): Date {
  return new Date(now.getTime() - ATTEMPT_LIFETIME);
}

function newSecrets(): LoginSecrets {
  const random = (): string => randomBytes(32).toString('base64url');
  return { state: random(), nonce: random(), verifier: random() };
}

function ownerOfSecrets(attemptId: string): string[] {
  return ['sso_attempt', attemptId, 'secrets'];
}

/** Returns what is shown and recorded. */
function problemOf(error: unknown): string {
  return error instanceof RefusedLogin ? error.message : 'The service could not complete the login.';
}

/** Reads an identity that was verified when the response arrived. `staleness` is the name in the last release, which may still run. */
function identityIn(json: string): ProviderIdentity {
  const { authenticatedAt, staleness, ...identity } = JSON.parse(json) as ProviderIdentity & {
    readonly authenticatedAt?: string;
    readonly staleness?: string;
  };
  return {
    ...identity,
    recencyProblem: staleness,
    authenticatedAt: authenticatedAt === undefined ? undefined : new Date(authenticatedAt),
  };
}
