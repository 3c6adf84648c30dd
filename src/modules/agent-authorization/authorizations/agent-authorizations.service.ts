import { Injectable } from '@nestjs/common';
import { In, MoreThan } from 'typeorm';
import type { AuthenticatedClient } from '../../../infrastructure/auth/index.js';
import { Sealer, SecretDigest, sha256 } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { rateLimitKeyOfAddress, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { CounterMetric, Metrics } from '../../../infrastructure/metrics/index.js';
import { MAX_LOCATION_LENGTH } from '../../../infrastructure/pages/index.js';
import {
  AttemptLimitsRepository,
  subtractAll,
  tooManyAttempts,
} from '../../../infrastructure/rate-limiting/index.js';
import { Clock, HOUR, MINUTE } from '../../../infrastructure/time/index.js';
import type { AuditAction } from '../../../infrastructure/audit-catalog/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { formatUserCode, generateUserCode, parseUserCode } from '../../oauth/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import { labelOf, hostOrSchemeOf, type Agent } from '../agents/agent.js';
import { CLIENT_USER } from '../client-user.js';
import type { AgentIssuer } from '../agent-issuer.js';
import { AgentAuthorization, AgentConnectionCode } from './agent-authorization.entity.js';
import type { AgentUserRequest, ConnectionCodeResponse } from './authorizations.dto.js';
import type { AuthorizationRequest, RequestProblem } from './authorization-request.js';
import { IdentificationsService, LOGIN_LIFETIME } from './identifications.service.js';

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

/** Keeps authorization requests from the agent's request to the user's decision. */
@Injectable()
export class AgentAuthorizationsService {
  /** Limits on wrong connection codes, per authorization, and per partner and IP address. */
  private readonly perAuthorization = this.limits.limit('connection-code-of-authorization', {
    attempts: 5,
    within: LOGIN_LIFETIME,
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
    private readonly identifications: IdentificationsService,
    private readonly addresses: AgentAddresses,
    private readonly auditLog: AuditLog,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Stores a request, bound to the browser. @returns where the user logs in */
  async begin(
    issuer: AgentIssuer,
    { agent, redirectUri, state, codeChallenge, scopes }: NewAuthorization,
    browser: string,
  ): Promise<string> {
    const { id: agentId, name: agentName, kind: agentKind } = agent;
    const request = { agentId, agentName, agentKind, redirectUri, codeChallenge };
    const login = await this.identifications.beginForAgent(
      issuer,
      { ...request, state: state ?? null, scopes: [...scopes] },
      browser,
    );
    this.beforeLogin.inc({ outcome: 'begun' });
    return login;
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

  /** Creates a code with which the user continues on the authorization page. */
  async createCode(
    { clientId }: AuthenticatedClient,
    user: AgentUserRequest,
  ): Promise<ConnectionCodeResponse> {
    const expiresAt = new Date(this.clock.milliseconds() + CONNECTION_CODE_LIFETIME);
    for (;;) {
      const code = generateUserCode();
      const codeDigest = this.digestOf(code);
      const { externalUserId, phoneNumberSealed } = this.identifications.userFrom(
        user,
        ownerOfCode(codeDigest),
      );
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
    const code = parseUserCode(entered);
    const isRight = await this.limits.attempt(
      attempts,
      async () => code !== undefined && this.useCode(authorization, this.digestOf(code)),
    );
    if (isRight) await subtractAll(attempts);
    return isRight;
  }

  /** @returns false if there is no such code, and the authorization still awaits one */
  @Transactional()
  protected async useCode({ id, clientId }: AgentAuthorization, codeDigest: Buffer): Promise<boolean> {
    const code = await this.transaction.lockRow(AgentConnectionCode, {
      clientId,
      codeDigest,
      expiresAt: MoreThan(this.clock.now()),
    });
    if (!code) return (await this.identifications.find({ clientId }, id))?.status !== 'pending';
    const { externalUserId, phoneNumberSealed } = code;
    const phoneNumber = this.sealer.openOptional(phoneNumberSealed, ownerOfCode(codeDigest));
    const user = { external_user_id: externalUserId, phone_number: phoneNumber };
    if (await this.identifications.identify(id, user))
      await this.transaction.manager.delete(AgentConnectionCode, { codeDigest });
    return true;
  }

  /** Approves the request for the user whom the authorization names. @returns where the browser goes with the code, or undefined unless the user has yet to decide */
  @Transactional()
  async approve(
    issuer: AgentIssuer,
    authorization: AgentAuthorization,
    origin: RequestOrigin,
  ): Promise<string | undefined> {
    const { id, externalUserId } = authorization;
    const code = this.codeOf(id);
    const codeExpiresAt = new Date(this.clock.milliseconds() + CODE_LIFETIME);
    const approved = { status: 'approved' as const, codeHash: sha256(code), codeExpiresAt };
    const where = {
      id,
      purpose: 'agent',
      status: 'confirmed',
      externalUserId: externalUserId ?? '',
    } as const;
    if (!(await this.identifications.change(where, approved))) return undefined;
    await this.record('agent.approve', issuer, authorization, origin);
    return this.redirectTo(authorization, { code });
  }

  /**
   * Returns where the browser went when the user decided, as long as the agent can use that:
   * docs/decisions/0038-forms-sent-twice.md.
   */
  async repeatDecision(authorization: AgentAuthorization): Promise<string | undefined> {
    const { id, status } = authorization;
    if (this.identifications.hasExpired(authorization)) return undefined;
    if (status === 'declined') return this.redirectTo(authorization, DECLINED);
    const codeExpiresAt = new Date(this.clock.milliseconds() + CODE_LIFETIME);
    if (!(await this.identifications.change({ id, status: 'approved' }, { codeExpiresAt }))) return undefined;
    return this.redirectTo(authorization, { code: this.codeOf(id) });
  }

  /** Declines the request, before or after the login. */
  @Transactional()
  async decline(
    issuer: AgentIssuer,
    authorization: AgentAuthorization,
    origin: RequestOrigin,
  ): Promise<string | undefined> {
    const undecided = { id: authorization.id, purpose: 'agent' as const, status: In(UNDECIDED) };
    if (!(await this.identifications.change(undecided, { status: 'declined' }))) return undefined;
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
      actor: { ...CLIENT_USER, organizationId, origin },
      target: { name: labelOf(agentName, hostOrSchemeOf(redirectUri)), environment },
    });
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
