import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import type { SignInLinkView } from '../../sign-in-links/index.js';
import { SignInLinkTool } from './sign-in-link.js';
import { READ_ONLY } from './tool.js';

export class GetSignInLinkTool extends SignInLinkTool {
  readonly description = {
    name: 'get_sign_in_link',
    title: 'Get sign-in link',
    description:
      'Returns the status of a sign-in link. Use it when the user says that they have signed in. Call it at most once a ' +
      'minute, and stop when it is not pending: completed means connected, anything else needs a new link.',
    annotations: READ_ONLY,
  };

  protected linkAfter(agent: AuthenticatedAgent, id: string): Promise<SignInLinkView> {
    return this.links.find(agent, id);
  }
}
