import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { IsNull, MoreThan, Not } from 'typeorm';
import { mayPerform, type DashboardIdentity } from '../../../infrastructure/auth/index.js';
import { Sealer, sha256 } from '../../../infrastructure/crypto/index.js';
import {
  doneAfterwards,
  isOwnFailure,
  Transaction,
  unlessOwnFailure,
} from '../../../infrastructure/database/index.js';
import { rateLimitKeyOfAddress, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR } from '../../../infrastructure/time/index.js';
import {
  LoginService,
  type BegunLogin,
  type LoginBrowser,
  type OpenedLogin,
} from '../../dashboard-login/index.js';
import { DashboardUsersService } from '../../dashboard-users/index.js';
import {
  REASONS,
  RefusedLogin,
  RefusedScope,
  requireCertificates,
  type LoginSecrets,
  type ProviderIdentity,
  type VerifiedIdentity,
} from '../identity-provider.js';
import { SsoSettingsRepository } from '../settings/sso-settings.repository.js';
import { roleProblemIn } from '../settings/sso-settings.service.js';
import { SSO_PERMISSIONS } from '../single-sign-on.capability.js';
import { SsoAttempt } from '../sso-attempt.entity.js';
import { SsoConfiguration } from '../sso-configuration.entity.js';
import { begunAfter, newSecrets, ownerOfSecrets } from './login-secrets.js';
import { SsoLoginsService } from './sso-logins.service.js';
import { SsoUsersService, type Person } from './sso-users.service.js';

/** The address of the page can name an external user. */
const SETTLED = { secretsSealed: Buffer.alloc(0), next: '' };
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
  /** Why the person would be a viewer, if the provider decides roles. */
  readonly roleProblem?: string | undefined;
  /** Why the login does not prove that the person logged in just now, although it was requested. */
  readonly recencyProblem?: string | undefined;
}

/** How a login ended. */
type FinishedLogin =
  | { readonly opened: OpenedLogin; readonly next: string }
  | { readonly again: BegunLogin }
  | { readonly test: TestResult; readonly configuration: SsoConfiguration }
  | { readonly problem: string };

/** Accepts the responses of identity providers, and logs users in. */
@Injectable()
export class SsoResponsesService {
  /** Refused responses of a configuration from an address: checking a signature takes time. */
  private readonly refused = this.limits.limit('sso-refused', { attempts: 30, within: HOUR });

  constructor(
    private readonly transaction: Transaction,
    private readonly beginnings: SsoLoginsService,
    private readonly people: SsoUsersService,
    private readonly users: DashboardUsersService,
    private readonly settings: SsoSettingsRepository,
    private readonly logins: LoginService,
    private readonly limits: AttemptLimitsRepository,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

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

  /**
   * Accepts a response that the provider made the browser send with a form, once. Browsers send no cookies with a form of another
   * site, so the login is finished by the request that follows, which shows that it began in the same browser. One statement at the
   * end accepts or refuses the response: if the service fails before, the browser can send it again.
   *
   * @returns the state of that request, or why the response was refused
   */
  async receive({
    configurationId,
    state,
    response,
    origin,
  }: ReceivedResponse): Promise<{ readonly state: string } | { readonly problem: string }> {
    const configuration = await this.beginnings.find(configurationId);
    const open = this.unfinished({ configurationId, stateHash: sha256(state), receivedAt: IsNull() });
    // Only providers with SAML send forms: a response that was checked here has no state, nonce and verifier to check again.
    const attempt =
      configuration?.protocol === 'saml' ? await this.transaction.manager.findOneBy(SsoAttempt, open) : null;
    if (!configuration || !attempt) return { problem: REASONS.unknown };
    // A configuration that was changed has a count of its own, so that the users of a repaired one can log in.
    const { id, entityId, ssoUrl, certificates } = configuration;
    const address = rateLimitKeyOfAddress(origin.ip);
    const counted = JSON.stringify([id, entityId, ssoUrl, certificates, address]);
    // An admin who tests a configuration must be able to repair it.
    const isTest = attempt.testerId !== null;
    const wait = isTest ? undefined : await this.refused.count(counted);
    if (wait !== undefined) throw tooManyAttempts(wait);
    const uncount = async () => isTest || this.refused.subtract(counted);
    return unlessOwnFailure(uncount, async () => {
      try {
        const identity = await this.verify(configuration, attempt, response);
        // The state is replaced, so that the form is accepted once.
        const { state: next } = newSecrets();
        const received = { stateHash: sha256(next), ...this.received(attempt, identity) };
        const isAccepted = await this.transaction.updateRow(SsoAttempt, open, received);
        await doneAfterwards(uncount);
        return isAccepted ? { state: next } : { problem: REASONS.unknown };
      } catch (error) {
        if (!(error instanceof RefusedLogin)) throw error;
        const { message: problem } = error;
        const finishedAt = this.clock.now();
        await this.transaction.updateRow(SsoAttempt, open, { problem, finishedAt, ...SETTLED });
        return { problem };
      }
    });
  }

  /** Accepts the response of a provider, once. */
  async finish(response: ProviderResponse): Promise<FinishedLogin> {
    const { configurationId, state, browser } = response;
    const attempt = await this.take({
      configurationId,
      stateHash: sha256(state),
      browser: sha256(browser),
    });
    const configuration = attempt && (await this.beginnings.find(attempt.configurationId));
    if (!configuration) return { problem: REASONS.unknown };
    let identity: VerifiedIdentity | undefined;
    try {
      const { testerId } = attempt;
      if (testerId === null && !configuration.enabledAt) throw new RefusedLogin(REASONS.disabled);
      if (testerId !== null && testerId !== response.user?.userId)
        throw new RefusedLogin(REASONS.otherTester);
      // A response that arrived with a form was checked when it arrived, with the configuration of that time.
      if (testerId === null && configuration.revision !== attempt.configurationRevision)
        throw new RefusedLogin(REASONS.changedMeanwhile);
      identity = attempt.receivedAt
        ? identityIn(this.decryptSecrets(attempt))
        : await this.verify(configuration, attempt, response.query);
      requireCertificates(identity, configuration);
      const { sessionEndsAt } = identity;
      // An invalid time is not later either.
      if (sessionEndsAt && !(sessionEndsAt.getTime() > this.clock.milliseconds()))
        throw new RefusedLogin(REASONS.sessionEnd);
      const person = await this.people.find(configuration, identity);
      const { email = null } = identity;
      if (testerId !== null) {
        const { claims, recencyProblem } = identity;
        // The current role decides: the provider may have taken long to respond.
        const tester = await this.users.principal(testerId);
        if (!tester || !mayPerform(tester, SSO_PERMISSIONS.enableSsoConfiguration))
          throw new RefusedLogin(REASONS.testerRole);
        const tested = { testedAt: this.clock.now(), recencyProblem: recencyProblem ?? null };
        const unchanged = { id: configuration.id, revision: attempt.configurationRevision };
        if (!(await this.transaction.updateRow(SsoConfiguration, unchanged, tested)))
          throw new RefusedLogin(REASONS.changed);
        await this.settle(attempt.id, { email, problem: null });
        const setting = await this.settings.get(configuration.organizationId);
        const roleProblem = roleProblemIn(setting, identity);
        return { test: { claims, person, roleProblem, recencyProblem }, configuration };
      }
      const opened = await this.openSession(configuration, identity, person, response, attempt.forceLogin);
      await doneAfterwards(() => this.settle(attempt.id, { email, problem: null }));
      return { opened, next: attempt.next };
    } catch (error) {
      if (!(error instanceof RefusedLogin) && isOwnFailure(error)) {
        await doneAfterwards(() => this.release(attempt, identity));
        throw error;
      }
      const problem = problemOf(error);
      await this.settle(attempt.id, { email: identity?.email ?? null, problem });
      if (!(error instanceof RefusedLogin)) throw error;
      if (error instanceof RefusedScope) {
        const { next, forceLogin, testerId } = attempt;
        const beginning = { ...response, next, forceLogin, testerId, hasRoleScopes: false };
        return { again: await this.beginnings.start(configuration, beginning) };
      }
      if (attempt.testerId === null || !identity) return { problem };
      return { test: { claims: identity.claims, problem }, configuration };
    }
  }

  private unfinished<Expected extends object>(expected: Expected) {
    return { ...expected, finishedAt: IsNull(), createdAt: MoreThan(begunAfter(this.clock.now())) };
  }

  /** Returns the attempt that a response finishes: to only one of several concurrent requests. */
  private async take(
    expected: Pick<SsoAttempt, 'configurationId' | 'stateHash' | 'browser'>,
  ): Promise<SsoAttempt | null> {
    if (!isUUID(expected.configurationId)) return null;
    const taken = { finishedAt: this.clock.now() };
    if (!(await this.transaction.updateRow(SsoAttempt, this.unfinished(expected), taken))) return null;
    return this.transaction.manager.findOneBy(SsoAttempt, { stateHash: expected.stateHash });
  }

  /** Lets the browser finish the login again. Providers accept a code once, so their response is kept. */
  private async release(attempt: SsoAttempt, identity: VerifiedIdentity | undefined): Promise<void> {
    const received = identity && !attempt.receivedAt && this.received(attempt, identity);
    await this.transaction.manager.update(SsoAttempt, { id: attempt.id }, { finishedAt: null, ...received });
  }

  /** Returns the changes that store the content of a valid response. */
  private received({ id }: SsoAttempt, identity: VerifiedIdentity) {
    const stored = JSON.stringify({ ...identity, staleness: identity.recencyProblem });
    return { receivedAt: this.clock.now(), secretsSealed: this.sealer.seal(stored, ownerOfSecrets(id)) };
  }

  /** Stores the outcome, and deletes the secrets, the content of the response, and the page. */
  private async settle(id: string, outcome: Pick<SsoAttempt, 'email' | 'problem'>): Promise<void> {
    await this.transaction.manager.update(SsoAttempt, { id }, { ...outcome, ...SETTLED });
  }

  private async verify(
    configuration: SsoConfiguration,
    attempt: SsoAttempt,
    response: string,
  ): Promise<VerifiedIdentity> {
    const secrets = JSON.parse(this.decryptSecrets(attempt)) as LoginSecrets;
    const provider = this.beginnings.providerOf(configuration);
    const identity = await provider.finish(configuration, secrets, response, attempt.createdAt);
    const { isOwnerApproved, certificates } = configuration;
    return { ...identity, isOwnerApproved, certificates };
  }

  private decryptSecrets({ id, secretsSealed }: SsoAttempt): string {
    return this.sealer.open(secretsSealed, ownerOfSecrets(id));
  }

  private async openSession(
    configuration: SsoConfiguration,
    identity: VerifiedIdentity,
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
    const { sessionEndsAt } = identity;
    const opened = await this.people.provision(
      configuration,
      identity,
      person,
      origin,
      async ({ user, isOwnerApproved, isProviderApproved }) => {
        const setting = await this.settings.get(configuration.organizationId);
        // Only owners decide about the second factor, so the decision holds only for providers that one of them approved.
        const isTwoFactor = setting.isTwoFactor && isProviderApproved && !needsSecondFactor;
        const proof = { authenticatedAt, sessionEndsAt, isTwoFactor, isOwnerApproved, needsSecondFactor };
        return this.logins.logInFromProvider({ userId: user.id, ...proof, origin, browser, replacing });
      },
    );
    if (!opened) throw new RefusedLogin(REASONS.userDisabled);
    return opened;
  }
}

/** Returns what is shown and recorded. */
function problemOf(error: unknown): string {
  return error instanceof RefusedLogin ? error.message : 'The service could not complete the login.';
}

/** Reads an identity that was verified when the response arrived. `staleness` is the name in the last release, which may still run. */
function identityIn(json: string): VerifiedIdentity {
  const stored = JSON.parse(json) as Omit<VerifiedIdentity, 'isOwnerApproved'> & {
    /** Missing in a response that the last release received. */
    readonly isOwnerApproved?: boolean;
    readonly authenticatedAt?: string;
    readonly sessionEndsAt?: string;
    readonly staleness?: string;
  };
  const { authenticatedAt, sessionEndsAt, staleness, isOwnerApproved = false, ...identity } = stored;
  const timeOf = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
  return {
    ...identity,
    isOwnerApproved,
    recencyProblem: staleness,
    authenticatedAt: timeOf(authenticatedAt),
    sessionEndsAt: timeOf(sessionEndsAt),
  };
}
