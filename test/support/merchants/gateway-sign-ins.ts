import { MerchantAccountsService } from '../../../src/modules/merchant-accounts/index.js';
import { SignInLinkCreationService, SignInLinksService } from '../../../src/modules/sign-in-links/index.js';
import { MerchantSignOutsJob } from '../../../src/modules/merchant-gateway/merchant-sign-outs.job.js';
import { EndedLinksJob } from '../../../src/modules/sign-in-links/ended-links.job.js';
import type { TestGateway } from './merchant-gateway.js';
import { rememberSecret } from '../runner/run-directory.js';
import { NETFLIX, newAgent, textMessagesTo, type TestAgent } from './sign-in-links.js';
import type { TestApp } from '../test-app.js';
import { Visitor, type PageResponse } from '../pages/visitor.js';

export const PASSWORD = 'pass_good';

export interface TestLink {
  readonly id: string;
  readonly agent: TestAgent;
  readonly path: string;
}

/** Sign-ins at the merchants of a gateway, and what they leave behind. @param started returns what the test file has started */
export function gatewaySignIns(started: () => { readonly service: TestApp; readonly gateway: TestGateway }) {
  const links = () => started().service.app.get(SignInLinksService);

  async function newLink(): Promise<TestLink> {
    const agent = newAgent(
      started().service,
      started().service.production,
      started().service.organizationId,
      'production',
    );
    const { id } = await started().service.app.get(SignInLinkCreationService).create(agent, NETFLIX.id);
    const [message] = textMessagesTo(started().service, agent.phoneNumber);
    const path = /\/sign-in\/\w+/.exec(message?.body ?? '')?.[0] ?? '';
    rememberSecret(path.slice('/sign-in/'.length));
    return { id, agent, path };
  }

  const credentials = (user_name: string, password = PASSWORD) => ({
    action: 'sign_in',
    user_name,
    password,
  });

  async function send(
    path: string,
    fields: Record<string, string> = credentials('user_good'),
    visitor = new Visitor(started().service),
  ): Promise<PageResponse> {
    await visitor.get(path);
    const response = await visitor.submit(path, fields);
    return response.location === null ? response : visitor.get(response.location);
  }

  const titleOf = ({ text }: PageResponse): string => /<h1>([^<]*)<\/h1>/.exec(text)?.[1] ?? '';
  const statusOf = async ({ agent, id }: TestLink): Promise<string> => (await links().find(agent, id)).status;
  const rowOf = async ({ id }: TestLink) =>
    (
      await started().service.database.query<{
        attempts: number;
        sign_in_id: string | null;
        session_id: string | null;
      }>('SELECT * FROM sign_in_link WHERE id = $1', [id])
    )[0];
  const accountsOf = async ({ agent }: TestLink) =>
    (
      await started()
        .service.app.get(MerchantAccountsService)
        .page(agent.client, agent.externalUserId, { limit: 10 })
    ).data;
  const eventsOf = ({ agent }: TestLink) =>
    started().service.database.query<{ event: string; session_id: string }>(
      'SELECT event, session_id FROM webhook_event WHERE external_user_id = $1',
      [agent.externalUserId],
    );
  /** The sign-ins that the gateway knows of this user. */
  const signInsOf = ({ agent }: TestLink) =>
    [...started().gateway.example.signIns].filter(
      ([, { target }]) => (target as { external_user_id: string }).external_user_id === agent.externalUserId,
    );

  /** Runs the job as if no process were waiting for the gateway anymore. */
  async function sendSignOuts(): Promise<void> {
    const { database, app } = started().service;
    await database.query(`UPDATE merchant_sign_out SET asked_at = now() - interval '1 minute'`);
    await app.get(MerchantSignOutsJob).run();
  }

  /** Runs the jobs as if the link had expired, and no process were waiting for the gateway anymore. */
  async function undoEndedSignIn(link: TestLink): Promise<void> {
    const { database, app } = started().service;
    await database.query(
      `UPDATE sign_in_link SET sign_in_asked_at = now() - interval '1 minute', expires_at = least(expires_at, now())
        WHERE id = $1`,
      [link.id],
    );
    await app.get(EndedLinksJob).run();
    await sendSignOuts();
  }

  /** Expects one account and one event of the only sign-in that the gateway knows. */
  async function expectConnectedOnce(link: TestLink): Promise<void> {
    const [[signInId] = [], ...more] = signInsOf(link);
    expect(more).toEqual([]);
    expect(await statusOf(link)).toBe('completed');
    expect(await accountsOf(link)).toMatchObject([
      { merchant: NETFLIX, state: 'connected', session_id: signInId },
    ]);
    expect(await eventsOf(link)).toEqual([{ event: 'AUTHENTICATED', session_id: signInId }]);
    expect(await rowOf(link)).toMatchObject({ sign_in_id: null, session_id: signInId });
  }

  return {
    newLink,
    credentials,
    send,
    titleOf,
    statusOf,
    rowOf,
    accountsOf,
    eventsOf,
    signInsOf,
    sendSignOuts,
    undoEndedSignIn,
    expectConnectedOnce,
  };
}
