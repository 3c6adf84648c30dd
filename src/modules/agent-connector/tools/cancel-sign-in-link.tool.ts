import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import type { SignInLinkView } from '../../sign-in-links/index.js';
import { SignInLinkTool } from './sign-in-link.js';

export class CancelSignInLinkTool extends SignInLinkTool {
  readonly description = {
    name: 'cancel_sign_in_link',
    title: 'Cancel sign-in link',
    description:
      'Makes a pending sign-in link useless. Use it when the user changes their mind. Connected accounts stay connected.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  };

  protected linkAfter(agent: AuthenticatedAgent, id: string): Promise<SignInLinkView> {
    return this.links.cancel(agent, id);
  }
}
