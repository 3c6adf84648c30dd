import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { In, MoreThan, type FindOptionsWhere } from 'typeorm';
import type { AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import {
  isWellFormedToken,
  Sealer,
  SecretDigest,
  secretFrom,
  sha256,
} from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { rateLimitKeyOfAddress, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { CounterMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { MAX_LOCATION_LENGTH } from '../../../infrastructure/pages/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../../audit-logs/index.js';
import { formatUserCode, generateUserCode, parseUserCode } from '../../oauth/index.js';
import { AgentAddresses, pagePathOf } from '../agent-addresses.js';
import { labelOf, hostOrSchemeOf, type Agent } from '../agents/agent.js';
import { AGENT_USER } from '../connections/agent-connections.service.js';
import type { AgentIssuer } from '../settings/agent-settings.service.js';
import { AgentAuthorization, AgentConnectionCode } from './agent-authorization.entity.js';
import {
  AUTHORIZATION_CLOSED,
  AUTHORIZATION_NOT_FOUND,
  type AgentUserRequest,
  type CompletedAuthorizationResponse,
  type ConnectionCodeResponse,
} from './authorizations.dto.js';
import { AgentAuthorizationsRepository } from './agent-authorizations.repository.js';
import type { AuthorizationRequest, RequestProblem } from './authorization-request.js';

const AUTHORIZATION_LIFETIME = 10 * MINUTE;
const CODE_LIFETIME = MINUTE;
const CONNECTION_CODE_LIFETIME = 5 * MINUTE;

/** The parameters with which the browser returns after the user declined (RFC 6749, section 4.1.2.1). */
const DECLINED = { error: 'access_denied', error_description: 'The user declined the request.' };
const BEFORE_LOGIN = new CounterMetric({
  name: 'mcs_agent_authorizations_total',
  help: 'Authorization requests of agents before a user has logged in, which leave no audit log entry: `begun`, `refused` because of a parameter, or `declined`.',
  labels: ['outcome'],
});

export interface NewAuthorization extends AuthorizationRequest {
  readonly agent: Agent;
  readonly redirectUri: string;
  readonly state: string | undefined;
}

const UNDECIDED: AgentAuthorization['status'][] = ['pending', 'completed', 'confirmed'];

type AuthorizedUser = Pick<AgentAuthorization, 'externalUserId' | 'phoneNumberSealed'>;

/** Keeps authorization requests from the agent's request to the user's decision. */
@Injectable()
export class AgentAuthorizationsService {
  /** Limits on wrong connection codes, per authorization, and per partner and IP address. */
  private readonly perAuthorization = this.limits.limit('connection-code-of-authorization', {
    attempts: 5,
    within: AUTHORIZATION_LIFETIME,
  });
  private readonly perAddress = this.limits.limit('connection-code-of-address', {
    attempts: 20,
    within: HOUR,
  });

  private readonly beforeLogin = this.metrics.counter(BEFORE_LOGIN);

  constructor(
    private readonly limits: AttemptLimitsRepository,
    private readonly metrics: Metrics,
    private readonly transaction: Transaction,
    private readonly repository: AgentAuthorizationsRepository,
    private readonly addresses: AgentAddresses,
    private readonly auditLog: AuditLog,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Stores a request, bound to the browser. @returns where the user logs in */
  async begin(
    { clientId, environment, settings }: AgentIssuer,
    { agent, redirectUri, state, codeChallenge, scopes }: NewAuthorization,
    browser: string,
  ): Promise<string> {
    const now = this.clock.now();
    const id = randomUUID();
    await this.repository.add({
      id,
      clientId,
      agentId: agent.id,
      agentName: agent.name,
      agentKind: agent.kind,
      redirectUri,
      state: state ?? null,
      codeChallenge,
      scopes: [...scopes],
      browserHash: sha256(browser),
      status: 'pending',
      createdAt: now,
      expiresAt: new Date(now.getTime() + AUTHORIZATION_LIFETIME),
    });
    this.beforeLogin.inc({ outcome: 'begun' });
    if (settings.loginUrl === null) return pagePathOf(clientId, id);
    const login = new URL(settings.loginUrl);
    login.searchParams.set('authorization_id', id);
    login.searchParams.set('environment', environment);
    return login.href;
  }

  /**
   * Returns the redirect for a request that is refused (RFC 6749, section 4.1.2.1), without the state if that is too long for it.
   */
  refuse(
    target: Pick<AgentAuthorization, 'clientId' | 'redirectUri' | 'state'>,
    { error, description }: RequestProblem,
  ): string {
    this.beforeLogin.inc({ outcome: 'refused' });
    const parameters = { error, error_description: description };
    const redirect = this.redirectTo(target, parameters);
    return redirect.length <= MAX_LOCATION_LENGTH
      ? redirect
      : this.redirectTo({ ...target, state: null }, parameters);
  }

  async find(
    { clientId }: Pick<AgentIssuer, 'clientId'>,
    id: string,
  ): Promise<AgentAuthorization | undefined> {
    if (!isUUID(id)) return undefined;
    return (await this.transaction.manager.findOneBy(AgentAuthorization, { clientId, id })) ?? undefined;
  }

  hasExpired({ expiresAt }: AgentAuthorization): boolean {
    return expiresAt <= this.clock.now();
  }

  isBegunBy({ browserHash }: AgentAuthorization, browser: string | undefined): boolean {
    return browser !== undefined && SecretDigest.equal(browserHash, sha256(browser));
  }

  /**
   * Stores the user whom the partner has logged in. Can be repeated until the browser returns with the ticket.
   *
   * @throws ApiError NOT_FOUND, or 409 if the authorization was completed, declined or has expired
   */
  async complete(
    client: Pick<AuthenticatedClient, 'clientId'>,
    id: string,
    user: AgentUserRequest,
  ): Promise<CompletedAuthorizationResponse> {
    const found = AUTHORIZATION_NOT_FOUND.unlessFound(await this.find(client, id));
    // Follows from the request, so that a repeated one gets the same response.
    const { external_user_id: externalUserId, phone_number: phoneNumber = '' } = user;
    const request = JSON.stringify([found.id, externalUserId, phoneNumber]);
    const ticket = secretFrom(this.digest.of(`ticket ${request}`), '');
    const authorized = this.userFrom(user, ['agent_authorization', found.id]);
    const completed = { id: found.id, status: 'completed' as const, ticketHash: sha256(ticket) };
    const isCompleted =
      (await this.change({ id: found.id, status: 'pending' }, { ...authorized, ...completed })) ||
      (await this.transaction.manager.existsBy(AgentAuthorization, this.unexpired(completed)));
    if (!isCompleted) throw AUTHORIZATION_CLOSED.error();
    const url = new URL(this.addresses.pageOf(found.clientId, found.id));
    url.searchParams.set('ticket', ticket);
    return { redirect_url: url.href };
  }

  /**
   * Confirms that the browser that began belongs to the user who logged in. If the ticket comes with another browser, the
   * authorization ends: somebody passed it to another person.
   *
   * @returns whether the user may decide
   */
  @Transactional()
  async confirm(
    issuer: AgentIssuer,
    authorization: AgentAuthorization,
    ticket: string,
    { browser, origin }: { readonly browser: string | undefined; readonly origin: RequestOrigin },
  ): Promise<boolean> {
    if (!isWellFormedToken(ticket)) return false;
    const completed = { id: authorization.id, status: 'completed' as const, ticketHash: sha256(ticket) };
    if (this.isBegunBy(authorization, browser)) return this.change(completed, { status: 'confirmed' });
    if (await this.change(completed, { status: 'ended' }))
      await this.record('agent.refuse', issuer, authorization, origin);
    return false;
  }

  /** Creates a code with which the user continues on the authorization page. */
  async createCode(
    { clientId }: AuthenticatedClient,
    user: AgentUserRequest,
  ): Promise<ConnectionCodeResponse> {
    const expiresAt = new Date(this.clock.milliseconds() + CONNECTION_CODE_LIFETIME);
    for (;;) {
      const code = generateUserCode();
      const codeDigest = this.digestOf(code);
      const { externalUserId, phoneNumberSealed } = this.userFrom(user, ownerOfCode(codeDigest));
      const row = {
        codeDigest,
        clientId,
        externalUserId: externalUserId as string,
        phoneNumberSealed,
        expiresAt,
      };
      if (await this.transaction.insertNew(AgentConnectionCode, row, 'agent_connection_code_pkey'))
        return { code: formatUserCode(code), expires_at: expiresAt };
    }
  }

  /**
   * Uses up a connection code that the user typed. If the user is known already, because the form was sent twice, or the request has
   * ended, the code is kept.
   *
   * @returns whether the code is right, or no code is awaited
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async enterCode(
    authorization: AgentAuthorization,
    entered: string,
    { ip }: RequestOrigin,
  ): Promise<boolean> {
    if (authorization.status !== 'pending') return true;
    const { id, clientId } = authorization;
    const error = (seconds: number) => tooManyAttempts(seconds, 'There were too many wrong codes.');
    const attempts = [
      { limit: this.perAuthorization, subject: id, error },
      { limit: this.perAddress, subject: JSON.stringify([clientId, rateLimitKeyOfAddress(ip)]), error },
    ];
    await this.limits.countAll(attempts);
    const code = parseUserCode(entered);
    if (code === undefined || !(await this.useCode(authorization, this.digestOf(code)))) return false;
    for (const { limit, subject } of attempts) await limit.subtract(subject);
    return true;
  }

  /** @returns false if there is no such code, and the authorization still awaits one */
  @Transactional()
  protected async useCode({ id, clientId }: AgentAuthorization, codeDigest: Buffer): Promise<boolean> {
    const code = await this.transaction.lockRow(AgentConnectionCode, {
      clientId,
      codeDigest,
      expiresAt: MoreThan(this.clock.now()),
    });
    if (!code) return (await this.find({ clientId }, id))?.status !== 'pending';
    const { externalUserId, phoneNumberSealed } = code;
    const phoneNumber = this.sealer.openOptional(phoneNumberSealed, ownerOfCode(codeDigest));
    const user = { external_user_id: externalUserId, phone_number: phoneNumber };
    if (await this.identify(id, this.userFrom(user, ['agent_authorization', id])))
      await this.transaction.manager.delete(AgentConnectionCode, { codeDigest });
    return true;
  }

  /** Approves the request. @returns where the browser goes with the code, or undefined unless the user has yet to decide */
  @Transactional()
  async approve(
    issuer: AgentIssuer,
    authorization: AgentAuthorization,
    origin: RequestOrigin,
  ): Promise<string | undefined> {
    const { id } = authorization;
    const code = this.codeOf(id);
    const codeExpiresAt = new Date(this.clock.milliseconds() + CODE_LIFETIME);
    const approved = { status: 'approved' as const, codeHash: sha256(code), codeExpiresAt };
    if (!(await this.change({ id, status: 'confirmed' }, approved))) return undefined;
    await this.record('agent.approve', issuer, authorization, origin);
    return this.redirectTo(authorization, { code });
  }

  /**
   * Returns where the browser went when the user decided, as long as the agent can use that:
   * docs/decisions/0038-forms-sent-twice.md.
   */
  async repeatDecision(authorization: AgentAuthorization): Promise<string | undefined> {
    const { id, status } = authorization;
    if (this.hasExpired(authorization)) return undefined;
    if (status === 'declined') return this.redirectTo(authorization, DECLINED);
    const codeExpiresAt = new Date(this.clock.milliseconds() + CODE_LIFETIME);
    if (!(await this.change({ id, status: 'approved' }, { codeExpiresAt }))) return undefined;
    return this.redirectTo(authorization, { code: this.codeOf(id) });
  }

  /** Declines the request, before or after the login. */
  @Transactional()
  async decline(
    issuer: AgentIssuer,
    authorization: AgentAuthorization,
    origin: RequestOrigin,
  ): Promise<string | undefined> {
    const undecided = { id: authorization.id, status: In(UNDECIDED) };
    if (!(await this.change(undecided, { status: 'declined' }))) return undefined;
    // Anyone can begin a request, with any text, and decline it.
    if (authorization.externalUserId === null) this.beforeLogin.inc({ outcome: 'declined' });
    else await this.record('agent.decline', issuer, authorization, origin);
    return this.redirectTo(authorization, DECLINED);
  }

  /**
   * Returns the redirect address with the parameters of a response, the state, and the issuer (RFC 9207). The address must have
   * been verified.
   */
  redirectTo(
    { clientId, redirectUri, state }: Pick<AgentAuthorization, 'clientId' | 'redirectUri' | 'state'>,
    parameters: Readonly<Record<string, string>>,
  ): string {
    const query = new URLSearchParams({
      ...parameters,
      ...(state !== null && { state }),
      iss: this.addresses.issuerOf(clientId),
    });
    return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
  }

  private async record(
    action: AuditAction,
    { organizationId, environment }: AgentIssuer,
    { agentName, redirectUri }: AgentAuthorization,
    origin: RequestOrigin,
  ): Promise<void> {
    await this.auditLog.record({
      action,
      actor: { ...AGENT_USER, organizationId, origin },
      target: { name: labelOf(agentName, hostOrSchemeOf(redirectUri)), environment },
    });
  }

  private userFrom(
    { external_user_id: externalUserId, phone_number: phoneNumber }: AgentUserRequest,
    owner: string[],
  ): AuthorizedUser {
    return { externalUserId, phoneNumberSealed: this.sealer.sealOptional(phoneNumber, owner) };
  }

  /** Stores who the user is. @returns false unless a user is awaited */
  identify(id: string, user: AuthorizedUser): Promise<boolean> {
    return this.change({ id, status: 'pending' }, { ...user, status: 'confirmed' });
  }

  /** Changes an authorization that has not expired and is in the given state, in one statement. */
  private change(
    where: FindOptionsWhere<AgentAuthorization>,
    changes: Partial<AgentAuthorization>,
  ): Promise<boolean> {
    return this.transaction.updateRow(AgentAuthorization, this.unexpired(where), changes);
  }

  private unexpired(where: FindOptionsWhere<AgentAuthorization>): FindOptionsWhere<AgentAuthorization> {
    return { ...where, expiresAt: MoreThan(this.clock.now()) };
  }

  /** The code can be computed again, and only its hash is stored. */
  private codeOf(id: string): string {
    return this.digest.of(`agent authorization code ${id}`).toString('base64url');
  }

  private digestOf(code: string): Buffer {
    return this.digest.of(`connection code ${code}`);
  }
}

function ownerOfCode(codeDigest: Buffer): string[] {
  return ['agent_connection_code', codeDigest.toString('hex')];
}
