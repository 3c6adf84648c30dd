import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MoreThan, type FindOptionsWhere } from 'typeorm';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import {
  isWellFormedSecretWithoutPrefix,
  Sealer,
  SecretDigest,
  secretFrom,
  sha256,
} from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional, type NewRow } from '../../../infrastructure/database/index.js';
import { UserPseudonyms } from '../../../infrastructure/erasure/index.js';
import { withParameters, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { Clock, MINUTE } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { AuditLog, changesBetween, SYSTEM } from '../../audit-logs/index.js';
import { AgentAddresses, pagePathOf } from '../agent-addresses.js';
import { AUTHORIZATION_CLOSED, AUTHORIZATION_NOT_FOUND } from '../agent-authorization-errors.js';
import type { AgentIssuer } from '../agent-issuer.js';
import { hostOrSchemeOf, labelOf } from '../agents/agent.js';
import { AgentAuthorization } from './agent-authorization.entity.js';
import { AgentAuthorizationsRepository } from './agent-authorizations.repository.js';
import type { AgentUserRequest, CompletedAuthorizationResponse } from './authorizations.dto.js';
import type { PageLogin } from './identification.js';

/** Milliseconds in which users log in, and use the login. */
export const LOGIN_LIFETIME = 10 * MINUTE;

/** A login of a user at the partner, for any purpose. */
export type Identification = Pick<
  AgentAuthorization,
  | 'id'
  | 'clientId'
  | 'purpose'
  | 'continueAt'
  | 'browserHash'
  | 'status'
  | 'externalUserId'
  | 'createdAt'
  | 'expiresAt'
>;

export type IdentifiedUser = Pick<AgentAuthorization, 'externalUserId' | 'phoneNumberSealed'>;

/** The columns of an agent's request. They are empty for other purposes. */
export type AgentRequest = Pick<
  AgentAuthorization,
  'agentId' | 'agentName' | 'agentKind' | 'redirectUri' | 'state' | 'codeChallenge' | 'scopes'
>;

/** Values that no agent has, and with which no code can be redeemed. */
const NO_AGENT: AgentRequest = {
  agentId: '',
  agentName: '',
  agentKind: 'document',
  redirectUri: '',
  state: null,
  codeChallenge: '',
  scopes: [],
};

/** Asks the login page to log in a user even if one is already logged in (OpenID Connect Core 1.0, section 3.1.2.1). */
const ANOTHER_USER = { prompt: 'login' };

/** The names of the purposes in the audit log. */
const PAGES: Readonly<Record<PageLogin['purpose'], string>> = {
  sign_in_link: 'a sign-in link',
  user_page: 'the user’s page',
};

/** Has users log in at the partner. A login is bound to the browser that began it, from the first page until the browser returns. */
@Injectable()
export class IdentificationsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AgentAuthorizationsRepository,
    private readonly addresses: AgentAddresses,
    private readonly auditLog: AuditLog,
    private readonly pseudonyms: UserPseudonyms,
    private readonly digest: SecretDigest,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Returns whether users can log in: at the partner, or as users of the sandbox. */
  canLogIn({ environment, settings: { loginUrl } }: AgentIssuer): boolean {
    return loginUrl !== null || environment === 'development';
  }

  /** Begins a login for an agent, bound to the browser. @returns where the user logs in */
  beginForAgent(issuer: AgentIssuer, request: AgentRequest, browser: string): Promise<string> {
    return this.add(issuer, { ...request, purpose: 'agent', continueAt: null }, browser);
  }

  /**
   * Begins a login for a page, bound to the browser.
   *
   * @param isAgain whether another user has logged in before, who would otherwise return
   * @returns where the user logs in
   */
  begin(issuer: AgentIssuer, login: PageLogin, browser: string, isAgain = false): Promise<string> {
    return this.add(issuer, { ...NO_AGENT, ...login }, browser, isAgain ? ANOTHER_USER : {});
  }

  private async add(
    issuer: AgentIssuer,
    request: AgentRequest & Pick<Identification, 'purpose' | 'continueAt'>,
    browser: string,
    parameters: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const now = this.clock.now();
    const row: NewRow<AgentAuthorization> = {
      ...request,
      id: randomUUID(),
      clientId: issuer.clientId,
      browserHash: sha256(browser),
      status: 'pending',
      createdAt: now,
      expiresAt: new Date(now.getTime() + LOGIN_LIFETIME),
    };
    await this.repository.add(row);
    return this.startOf(issuer, row, parameters);
  }

  /** @returns where the user logs in */
  private startOf(
    { clientId, environment, settings }: AgentIssuer,
    { id, purpose }: Pick<Identification, 'id' | 'purpose'>,
    parameters: Readonly<Record<string, string>> = {},
  ): string {
    if (settings.loginUrl === null) return pagePathOf(clientId, id);
    return withParameters(settings.loginUrl, { authorization_id: id, environment, purpose, ...parameters });
  }

  /**
   * Ends the login and begins one with a new ID, because the person at the browser is another user: responses of the partner and
   * pages of the ended login cannot name or approve for anyone. Can be repeated.
   *
   * @returns where that person logs in
   */
  async restart(issuer: AgentIssuer, login: AgentAuthorization): Promise<string> {
    await this.replace(login);
    const next = await this.findNext(login);
    if (next?.status !== 'pending') return pagePathOf(issuer.clientId, login.id);
    return this.startOf(issuer, next, ANOTHER_USER);
  }

  @Transactional()
  protected async replace(login: AgentAuthorization): Promise<void> {
    const nobody = { externalUserId: null, phoneNumberSealed: null, ticketHash: null };
    if (!(await this.change({ id: login.id, status: 'confirmed' }, { ...nobody, status: 'ended' }))) return;
    const createdAt = this.clock.now();
    await this.repository.add({
      ...login,
      ...nobody,
      id: this.nextIdOf(login),
      status: 'pending',
      createdAt,
    });
  }

  /** Returns the login that replaced an ended one, if another user logs in. */
  findNext(login: AgentAuthorization): Promise<AgentAuthorization | undefined> {
    return this.find(login, this.nextIdOf(login));
  }

  /** Derives the new ID from the old one, so that a repeated request finds the same login. */
  private nextIdOf({ id }: Identification): string {
    const digest = this.digest.of(`login after ${id}`).toString('hex');
    return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  }

  async find(
    { clientId }: Pick<ClientRecord, 'clientId'>,
    id: string,
  ): Promise<AgentAuthorization | undefined> {
    return (await this.transaction.findById(AgentAuthorization, { clientId, id })) ?? undefined;
  }

  /** Returns the finished login of this browser for the page, unless it has expired or is one for another page. */
  async findFinished(
    client: Pick<ClientRecord, 'clientId'>,
    id: string,
    { purpose, continueAt }: PageLogin,
    browser: string | undefined,
  ): Promise<Identification | undefined> {
    const found = await this.find(client, id);
    const isFinished = found?.status === 'confirmed' && !this.hasExpired(found);
    const isForPage = found?.purpose === purpose && found.continueAt === continueAt;
    return isFinished && isForPage && this.isBegunBy(found, browser) ? found : undefined;
  }

  hasExpired({ expiresAt }: Identification): boolean {
    return expiresAt <= this.clock.now();
  }

  isBegunBy({ browserHash }: Identification, browser: string | undefined): boolean {
    return browser !== undefined && SecretDigest.equal(browserHash, sha256(browser));
  }

  /**
   * Stores the user whom the partner has logged in. Can be repeated until the browser returns with the ticket.
   *
   * @throws ApiError NOT_FOUND, or 409 if the authorization was completed, declined or has expired
   */
  async complete(
    client: Pick<ClientRecord, 'clientId'>,
    id: string,
    user: AgentUserRequest,
  ): Promise<CompletedAuthorizationResponse> {
    const found = AUTHORIZATION_NOT_FOUND.requireFound(await this.find(client, id));
    // The ticket is derived from the request, so that a repeated request gets the same response.
    const { external_user_id: externalUserId, phone_number: phoneNumber = '' } = user;
    const request = JSON.stringify([found.id, externalUserId, phoneNumber]);
    const ticket = secretFrom(this.digest.of(`ticket ${request}`), '');
    const identified = this.userFrom(user, ownerOf(found.id));
    const completed = { id: found.id, status: 'completed' as const, ticketHash: sha256(ticket) };
    const isCompleted =
      (await this.change({ id: found.id, status: 'pending' }, { ...identified, ...completed })) ||
      (await this.transaction.manager.existsBy(AgentAuthorization, this.unexpired(completed)));
    if (!isCompleted) throw AUTHORIZATION_CLOSED.error();
    const url = new URL(this.addresses.pageOf(found.clientId, found.id));
    url.searchParams.set('ticket', ticket);
    return { redirect_url: url.href };
  }

  /**
   * Like `complete`, for a dashboard user who logs in as a user of the sandbox. The audit log cannot forget users, so its entry has a
   * pseudonym.
   */
  @Transactional()
  async completeAs(
    actor: DashboardActor,
    client: Pick<ClientRecord, 'clientId' | 'environment'>,
    id: string,
    user: AgentUserRequest,
  ): Promise<CompletedAuthorizationResponse> {
    const login = AUTHORIZATION_NOT_FOUND.requireFound(await this.find(client, id));
    const completed = await this.complete(client, id, user);
    const { clientId, environment } = client;
    const pseudonym = this.pseudonyms.of({ clientId, externalUserId: user.external_user_id });
    await this.auditLog.record({
      action: 'user_login.complete',
      actor,
      target: { name: purposeOf(login), environment },
      changes: changesBetween({}, { user: pseudonym }),
    });
    return completed;
  }

  /**
   * Confirms that the browser that began belongs to the user who logged in. If the ticket comes with another browser, the
   * authorization ends, because somebody passed the link to another person.
   *
   * @returns whether the user may continue
   */
  @Transactional()
  async confirm(
    { organizationId, environment }: ClientRecord,
    login: AgentAuthorization,
    ticket: string,
    { browser, origin }: { readonly browser: string | undefined; readonly origin: RequestOrigin },
  ): Promise<boolean> {
    if (!isWellFormedSecretWithoutPrefix(ticket)) return false;
    const completed = { id: login.id, status: 'completed' as const, ticketHash: sha256(ticket) };
    if (this.isBegunBy(login, browser)) return this.change(completed, { status: 'confirmed' });
    if (await this.change(completed, { status: 'ended' })) {
      await this.auditLog.record({
        action: login.purpose === 'agent' ? 'agent.refuse' : 'user_login.refuse',
        actor: { ...SYSTEM, organizationId, origin },
        target: { name: purposeOf(login), environment },
      });
    }
    return false;
  }

  /** Stores who the user is. @returns false unless a user is awaited */
  identify(id: string, user: AgentUserRequest): Promise<boolean> {
    return this.change(
      { id, status: 'pending' },
      { ...this.userFrom(user, ownerOf(id)), status: 'confirmed' },
    );
  }

  /** Keeps a finished login until this time, for a page that stays open that long. @returns false if it has ended */
  keep({ id }: Pick<Identification, 'id'>, expiresAt: Date): Promise<boolean> {
    return this.change({ id, status: 'confirmed' }, { expiresAt });
  }

  /** Ends a finished login, so that it cannot be used again. @returns false if it has ended */
  end({ id }: Pick<Identification, 'id'>): Promise<boolean> {
    return this.change({ id, status: 'confirmed' }, { status: 'ended' });
  }

  /** Ends all finished logins of a browser for the page, so that none of them can be used again. */
  async endAll(
    { clientId }: Pick<ClientRecord, 'clientId'>,
    { purpose, continueAt }: PageLogin,
    browser: string,
  ): Promise<void> {
    const finished = {
      clientId,
      purpose,
      continueAt,
      browserHash: sha256(browser),
      status: 'confirmed',
    } as const;
    await this.transaction.manager.update(AgentAuthorization, this.unexpired(finished), { status: 'ended' });
  }

  userFrom(
    { external_user_id: externalUserId, phone_number: phoneNumber }: AgentUserRequest,
    owner: string[],
  ): IdentifiedUser {
    return { externalUserId, phoneNumberSealed: this.sealer.sealOptional(phoneNumber, owner) };
  }

  /** Changes a login that has not expired and is in the given state, in one statement. */
  change(
    where: FindOptionsWhere<AgentAuthorization>,
    changes: Partial<AgentAuthorization>,
  ): Promise<boolean> {
    return this.transaction.updateRow(AgentAuthorization, this.unexpired(where), changes);
  }

  private unexpired(where: FindOptionsWhere<AgentAuthorization>): FindOptionsWhere<AgentAuthorization> {
    return { ...where, expiresAt: MoreThan(this.clock.now()) };
  }
}

/** Returns what a login is for, as the audit log names it. */
function purposeOf({ purpose, agentName, redirectUri }: AgentAuthorization): string {
  return purpose === 'agent' ? labelOf(agentName, hostOrSchemeOf(redirectUri)) : PAGES[purpose];
}

const ownerOf = (id: string): string[] => ['agent_authorization', id];
