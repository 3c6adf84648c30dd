import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import type { RequestOrigin } from '../../infrastructure/http/index.js';
import { fieldError } from '../../infrastructure/validation/index.js';
import {
  AgentSettingsService,
  IdentificationsService,
  type AgentIssuer,
  type Identification,
  type PageLogin,
} from '../agent-authorization/index.js';
import { AuditLog, SYSTEM } from '../audit-logs/index.js';
import { isReturnUrl } from './return-url.js';
import type { SignInLink } from './sign-in-link.entity.js';

/** A browser that has opened a link, and the login with which it claims to be the user. */
export interface LinkVisitor {
  readonly browser: string | undefined;
  readonly loginId: string | undefined;
  readonly origin: RequestOrigin;
}

/** A link with what the audit log says about it. */
interface CheckedLink {
  readonly link: SignInLink;
  readonly client: Pick<AgentIssuer, 'organizationId'>;
  readonly merchant: { readonly name: string };
}

/** Verifies with a login at the partner that the person who opens a link is its user. */
@Injectable()
export class SignInLoginsService {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly identifications: IdentificationsService,
    private readonly auditLog: AuditLog,
  ) {}

  /** Returns whether the API client has set a login page. */
  async hasLoginPage(clientId: string): Promise<boolean> {
    return (await this.settings.findClient(clientId))?.settings.loginUrl != null;
  }

  /** @throws ApiError INVALID_FIELD if users cannot log in, or must not return to the address */
  async requirePossible(
    { clientId, environment }: { readonly clientId: string; readonly environment: PlatformEnvironment },
    { proof, returnUrl }: Pick<SignInLink, 'proof' | 'returnUrl'>,
  ): Promise<void> {
    const client = await this.settings.findClient(clientId);
    if (proof === 'partner_login' && !(client && this.identifications.canLogIn(client)))
      throw fieldError({ field: 'proof', rule: () => NO_LOGIN_PAGE });
    const hosts = client?.settings.returnHosts ?? [];
    if (returnUrl !== null && !isReturnUrl(returnUrl, { environment, hosts }))
      throw fieldError({ field: 'return_url', rule: wrongReturnUrl(environment) });
  }

  /**
   * Sends a browser to the login of the partner.
   *
   * @param isAgain whether another user has logged in before
   * @returns where it goes; undefined if users cannot log in any more
   */
  async begin(link: SignInLink, browser: string, isAgain: boolean): Promise<string | undefined> {
    const client = await this.findClient(link);
    return client && this.identifications.begin(client, loginOf(link), browser, isAgain);
  }

  /**
   * Returns whether the visitor is the user of the link. A login of another user is refused, and ends.
   *
   * @returns `login` if the user has yet to log in
   */
  async check(
    opened: CheckedLink,
    { browser, loginId, origin }: LinkVisitor,
  ): Promise<'admitted' | 'login' | 'otherUser'> {
    const { link } = opened;
    if (link.proof === 'phone') return 'admitted';
    const login =
      loginId === undefined
        ? undefined
        : await this.identifications.findFinished(link, loginId, loginOf(link), browser);
    if (!login) return 'login';
    if (login.externalUserId === link.externalUserId) return 'admitted';
    await this.auditLog.inTurn(opened.client.organizationId, () => this.refuse(opened, login, origin));
    return 'otherUser';
  }

  @Transactional()
  protected async refuse(
    { link: { environment }, client: { organizationId }, merchant: { name } }: CheckedLink,
    login: Identification,
    origin: RequestOrigin,
  ): Promise<void> {
    if (!(await this.identifications.end(login))) return;
    await this.auditLog.record({
      action: 'sign_in_link.refuse',
      actor: { ...SYSTEM, organizationId, origin },
      target: { name, environment },
    });
  }

  private async findClient({ clientId }: SignInLink): Promise<AgentIssuer | undefined> {
    const client = await this.settings.findClient(clientId);
    return client && this.identifications.canLogIn(client) ? client : undefined;
  }
}

/** Returns the path of the page of a link that requires a login. Its ID opens nothing, so that the path is no secret. */
export function loginPathOf(id: string): string {
  return `/sign-in/${id}`;
}

function loginOf({ id }: SignInLink): PageLogin {
  return { purpose: 'sign_in_link', continueAt: loginPathOf(id) };
}

const NO_LOGIN_PAGE =
  'The proof field can be partner_login only if your users can log in: set your login page in the dashboard under Agents, Settings, or send phone.';
const wrongReturnUrl = (environment: PlatformEnvironment) => (field: string) =>
  `The ${field} field must be an https URL at a host that is listed in the dashboard under Agents, Settings, without a port, user name or fragment` +
  (environment === 'development'
    ? ', or an http or https URL of your own machine, such as http://localhost:4300/.'
    : '.');
