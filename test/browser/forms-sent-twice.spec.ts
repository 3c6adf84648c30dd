import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page, Request, Route } from 'playwright-core';
import { LoginAgent } from '../support/agents/agent-logins.js';
import { describeInBrowser, logIn, useLogin, waitForHeading } from '../support/pages/browser.js';
import { PasswordLinksService } from '../../src/modules/dashboard-login/passwords/password-links.service.js';
import {
  addInvited,
  addUser,
  INVITER,
  openSession,
  sessionsOf,
  someAddress,
} from '../support/pages/dashboard-users.js';
import { useDnsServer } from '../support/http/dns-server.js';
import { startFlow } from '../support/logins/device-flow.js';
import { eventually } from '../support/eventually.js';
import { mailTo, tokenIn } from '../support/messages/mails.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { SamlTestProvider } from '../support/logins/saml-provider.js';
import { newLink } from '../support/merchants/sign-in-links.js';
import { addSamlProvider, newOwner, proveDomain } from '../support/logins/single-sign-on.js';
import { useTestApp } from '../support/test-app.js';
import { totpCode } from '../support/logins/totp.js';
import { Visitor } from '../support/pages/visitor.js';

const PASSWORD = 'correct horse battery staple';

/** An agent on one host, whose callback redirects to another host and back, as hosted agents do. */
class AgentServer {
  private constructor(private readonly server: Server) {}

  static async start(): Promise<AgentServer> {
    const server = createServer((request, response) => {
      const { port } = server.address() as AddressInfo;
      const { pathname, search } = new URL(request.url ?? '', 'http://agent.invalid');
      const next: Record<string, string> = {
        '/callback': `http://localhost:${port}/second${search}`,
        '/second': `http://127.0.0.1:${port}/third${search}`,
        '/third': `http://localhost:${port}/end${search}`,
      };
      const location = next[pathname];
      if (location === undefined) response.setHeader('content-type', 'text/html').end('<h1>The agent</h1>');
      else response.writeHead(302, { location }).end();
    });
    await once(server.listen(0), 'listening');
    return new AgentServer(server);
  }

  get redirectUri(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/callback`;
  }

  close(): void {
    this.server.close();
  }
}

/** A form that has an effect once, or that leads to another site. */
interface OneTimeForm {
  /** Opens the page with the form and fills it in. @returns how often the effect happened so far */
  open(page: Page): Promise<() => Promise<number>>;
  readonly button: string;
  /** Where the form leads. */
  readonly leadsTo: RegExp;
  /** A button that only the next page has, if it is at the same address. */
  readonly nextButton?: string;
  /** Where the browser is after "back", if not there again. */
  readonly backTo?: RegExp;
}

describeInBrowser('Forms that a browser sends again', (windows) => {
  // The forms of agents and identity providers lead to other hosts.
  windows.allowsFindings = true;

  const dns = useDnsServer();
  const service = useTestApp(() => ({
    TRUSTED_PROXY_HOPS: '1',
    SIGN_IN_FORMS_PER_MINUTE: '1000',
    WEBHOOK_TARGETS: 'any',
    DOMAIN_PROOF_DNS_SERVERS: dns.address,
  }));
  let server: AgentServer;
  let agent: LoginAgent;

  beforeAll(async () => {
    server = await AgentServer.start();
    agent = await LoginAgent.register(service, { redirectUris: [server.redirectUri] });
  });
  afterAll(() => server.close());

  async function count(statement: string, ...values: unknown[]): Promise<number> {
    const rows = await service.database.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM ${statement}`,
      values,
    );
    return rows[0]?.count ?? 0;
  }
  const audited = (action: string) => () => count('audit_log WHERE action = $1', action);

  async function atConsent(page: Page): Promise<void> {
    await page.goto(agent.authorizePath());
    await page.getByLabel('User ID').fill('twice');
    await page.getByRole('button', { name: 'Continue as this user' }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
  }

  async function protectedUser(): Promise<{ email: string; password: string; secret: string; id: string }> {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    await visitor.fill('/account/second-factor', {}, '/account/second-factor/setup');
    const { text } = await visitor.get('/account/second-factor/setup');
    const secret = (/class="secret">([^<]+)</.exec(text)?.[1] ?? '').replaceAll(' ', '');
    rememberSecret(secret);
    const enabled = await visitor.submit('/account/second-factor/enable', {
      code: totpCode(secret, Date.now() - 30_000),
    });
    rememberSecret(...(enabled.text.match(/[2-9A-HJ-NP-Z]{5}-[2-9A-HJ-NP-Z]{5}/g) ?? []));
    return { ...user, secret };
  }

  const FORMS: Readonly<Record<string, OneTimeForm>> = {
    'Approve an agent': {
      open: async (page) => (await atConsent(page), audited('agent.approve')),
      button: 'Approve',
      leadsTo: /\/end\?code=/,
    },
    'Decline an agent': {
      open: async (page) => (await atConsent(page), audited('agent.decline')),
      button: 'Decline',
      leadsTo: /\/end\?error=access_denied/,
      backTo: /\/authorizations\//,
    },
    'Decline an agent before the login': {
      open: async (page) => {
        await page.goto(agent.authorizePath());
        return () => count(`agent_authorization WHERE status = 'declined'`);
      },
      button: 'Decline',
      leadsTo: /\/end\?error=access_denied/,
      backTo: /\/authorizations\//,
    },
    'The connection code': {
      open: async (page) => {
        const body = { external_user_id: 'twice' };
        const created = await service.request<{ code: string }>('/mcp/connection-codes', {
          body,
          as: service.development,
        });
        rememberSecret(created.body.code.replace('-', ''));
        await page.goto(agent.authorizePath());
        await page.getByLabel('Code').fill(created.body.code);
        const before = await count(`agent_authorization WHERE status = 'confirmed'`);
        return async () => (await count(`agent_authorization WHERE status = 'confirmed'`)) - before;
      },
      button: 'Continue',
      leadsTo: /\/authorizations\/[\w-]+$/,
      nextButton: 'Approve',
    },
    'The password of an invitation': {
      open: async (page) => {
        const user = await addInvited(service);
        service.app.get(PasswordLinksService).invite(user, INVITER);
        const token = tokenIn(await mailTo(service, user.email, 'Your invitation'));
        await page.goto(`/password-reset/confirm?token=${token}`);
        await page.getByLabel('New password').fill(PASSWORD);
        return () => sessionsOf(service, user);
      },
      button: 'Set password',
      leadsTo: /\/dashboard\//,
    },
    'A new password': {
      open: async (page) => {
        const user = await addUser(service);
        await page.goto('/password-reset');
        await page.getByLabel('Email address').fill(user.email);
        await page.getByRole('button').click();
        await waitForHeading(page, 'Check your email');
        const token = tokenIn(await mailTo(service, user.email, 'Set a new password'));
        await page.goto(`/password-reset/confirm?token=${token}`);
        await page.getByLabel('New password').fill(PASSWORD);
        return audited('auth.password_reset');
      },
      button: 'Set password',
      leadsTo: /\/password-reset\/done/,
    },
    'The second factor': {
      open: async (page) => {
        const user = await protectedUser();
        await logIn(page, user);
        await page.getByLabel('Code', { exact: true }).fill(totpCode(user.secret));
        return audited('auth.login');
      },
      button: 'Log in',
      leadsTo: /\/dashboard\//,
    },
    'Approve a device': {
      open: async (page) => {
        await useLogin(page.context(), service.baseUrl, await openSession(service, await addUser(service)));
        await page.goto('/device');
        await page.getByLabel('Code').fill((await startFlow(service)).user_code);
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('button', { name: 'Approve' }).waitFor();
        return audited('auth.device_approve');
      },
      button: 'Approve',
      leadsTo: /\/device\/result/,
    },
    'Sign in at a merchant': {
      open: async (page) => {
        await page.goto((await newLink(service)).path);
        await page.getByLabel('Your Netflix user name or email address').fill('user_good');
        await page.getByLabel('Your Netflix password').fill('pass_good');
        return () => count(`sign_in_link WHERE status = 'completed' AND attempts = 1`);
      },
      button: 'Sign in',
      leadsTo: /\?done=completed/,
      backTo: /\/sign-in\//,
    },
    'Invite a user': {
      open: async (page) => {
        const admin = await addUser(service);
        await service.database.query(`UPDATE dashboard_user SET role = 'owner' WHERE id = $1`, [admin.id]);
        await useLogin(page.context(), service.baseUrl, await openSession(service, admin));
        await page.goto('/dashboard/users/invitations/new');
        await page.getByLabel('Name').fill('Ada');
        await page.getByLabel('Email address').fill(someAddress());
        return audited('user.add');
      },
      button: 'Send invitation',
      leadsTo: /\?done=invited/,
      backTo: /\/invitations\/new/,
    },
  };

  it('A SAML request with a form follows redirects of the identity provider', async () => {
    const owner = await newOwner(service);
    const domain = await proveDomain(owner, dns);
    const provider = await SamlTestProvider.create();
    const id = await addSamlProvider(owner, { metadata_xml: provider.metadata('HTTP-POST') });
    await service.database.query(
      'UPDATE saml_configuration SET enabled_at = now(), tested_at = now(), sso_url = $2 WHERE id = $1',
      [id, server.redirectUri],
    );
    const page = await windows.open(service.baseUrl);
    await page.goto('/login');
    await page.getByLabel('Email address').fill(`ada@${domain}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Your organization uses single sign-on.').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(/\/end/);
  });

  const isForm = (request: Request): boolean => request.method() === 'POST' && request.isNavigationRequest();

  /** Lets the service process the first form, and keeps the response from the browser. */
  async function withholdFirst(page: Page, then: (route: Route) => Promise<void>): Promise<void> {
    let isFirst = true;
    await page.route('**', async (route) => {
      if (!isForm(route.request()) || !isFirst) return route.fallback();
      isFirst = false;
      await then(route);
    });
  }

  /** Waits until the browser shows a page. Playwright would report navigations that were canceled meanwhile. */
  const arrival = (page: Page, at: RegExp): Promise<true> =>
    eventually(`a page at ${at.source}, not ${page.url()}`, () => at.test(page.url()));

  /** Presses a button, and again when the form was processed. Playwright would wait until the first click has led to a page. */
  async function press(page: Page, name: string, isProcessed?: () => boolean): Promise<void> {
    const button = page.getByRole('button', { name, exact: true }).first();
    // Without its style sheet, the page has the button at another place.
    await page.waitForLoadState();
    await button.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await button.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await page.mouse.click(x + width / 2, y + height / 2);
    if (!isProcessed) return;
    // The browser handles two clicks together if it is busy, and then sends only the second form.
    await eventually('the service has processed the first form', isProcessed);
    await page.mouse.click(x + width / 2, y + height / 2);
  }

  describe.each(Object.entries(FORMS))(
    '%s',
    (_name, { open, button, leadsTo, nextButton, backTo = leadsTo }) => {
      it('has one effect and leads on after two clicks, after a lost response, and after going back', async () => {
        const clicked = await windows.open(service.baseUrl);
        const effects = await open(clicked);
        const start = await effects();
        let sent = 0;
        let arrive: () => Promise<void> = async () => undefined;
        await withholdFirst(clicked, async (route) => {
          const response = await route.fetch({ maxRedirects: 0 });
          arrive = () => route.fulfill({ response });
          sent += 1;
        });
        await press(clicked, button, () => sent > 0);
        // With the script of the dashboard, the second click does nothing. Without it, the browser has canceled the first form.
        await arrive().catch(() => undefined);
        await arrival(clicked, leadsTo);
        if (nextButton) await clicked.getByRole('button', { name: nextButton }).waitFor();
        expect([sent, (await effects()) - start]).toEqual([1, 1]);

        await clicked.goBack({ waitUntil: 'commit' }).catch(() => undefined);
        await arrival(clicked, backTo);
        expect((await effects()) - start).toBe(1);

        const lost = await windows.open(service.baseUrl);
        const lostEffects = await open(lost);
        const lostStart = await lostEffects();
        await withholdFirst(lost, async (route) => {
          await route.fetch({ maxRedirects: 0 });
          await route.abort('connectionreset');
        });
        await press(lost, button);
        await arrival(lost, /^chrome-error:/);
        // A reload gets lost if the browser has not shown the error page yet.
        await eventually(`a page at ${leadsTo.source}`, async () => {
          if (lost.url().startsWith('chrome-error:'))
            await lost.reload({ waitUntil: 'commit' }).catch(() => undefined);
          return leadsTo.test(lost.url());
        });
        expect((await lostEffects()) - lostStart).toBe(1);
      });
    },
  );
});
