import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlatformEnvironment } from '../../../src/infrastructure/config/index.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import {
  SignInLinkCreationService,
  type CreatedSignInLink,
  type SignInAgent,
} from '../../../src/modules/sign-in-links/index.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { TestApp } from '../test-app.js';

/** A merchant of the bundled catalog. */
export const NETFLIX = { id: 16, name: 'Netflix' } as const;

/** The form of a user who can sign in. */
export const GOOD = { action: 'sign_in', user_name: 'user_good', password: 'pass_good' } as const;

export type TestAgent = SignInAgent & { readonly phoneNumber: string };

/** Returns an agent of a new user with a phone of their own. */
export function newAgent(
  service: TestApp,
  credentials: IssuedCredentials = service.development,
  organizationId = service.organizationId,
  environment: PlatformEnvironment = 'development',
): TestAgent {
  const phoneNumber = `+1212555${randomInt(1000, 9999)}${randomInt(10, 99)}`;
  rememberSecret(phoneNumber);
  return {
    client: { clientId: credentials.clientId, environment },
    organizationId,
    externalUserId: `user-${randomBytes(6).toString('hex')}`,
    phoneNumber,
  };
}

export interface TestLink extends CreatedSignInLink {
  readonly agent: TestAgent;
  /** The path of the page. */
  readonly path: string;
}

/** Creates a link as the tool of the agent connector does. */
export async function newLink(service: TestApp, agent = newAgent(service)): Promise<TestLink> {
  const link = await service.app.get(SignInLinkCreationService).create(agent, NETFLIX.id);
  const path = new URL(link.url ?? '').pathname;
  rememberSecret(path.slice('/sign-in/'.length));
  return { ...link, agent, path };
}

/** Returns the text messages to a phone, which the service writes to files. */
export function textMessagesTo(service: TestApp, phoneNumber: string): { file: string; body: string }[] {
  const directory = join(service.dataDirectory, 'messages');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .map((file) => ({ file, content: readFileSync(file, 'utf8') }))
    .filter(({ content }) => content.startsWith(`To: ${phoneNumber}\n\n`))
    .map(({ file, content }) => ({ file, body: content.slice(content.indexOf('\n\n') + 2).trimEnd() }));
}
