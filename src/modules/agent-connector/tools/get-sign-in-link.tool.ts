import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { SignInLinksService } from '../../sign-in-links/index.js';
import { LINK_ID, SIGN_IN_LINK, toSignInLink } from './sign-in-link.js';
import { READ_ONLY, Tool } from './tool.js';

@Injectable()
export class GetSignInLinkTool extends Tool<typeof LINK_ID, typeof SIGN_IN_LINK> {
  readonly description = {
    name: 'get_sign_in_link',
    title: 'Get sign-in link',
    description:
      'Returns the status of a sign-in link. Use it when the user says that they have signed in. Call it at most once a ' +
      'minute, and stop when it is not pending: completed means connected, anything else needs a new link.',
    annotations: READ_ONLY,
  };
  readonly input = LINK_ID;
  readonly output = SIGN_IN_LINK;

  constructor(private readonly links: SignInLinksService) {
    super();
  }

  /** @throws ApiError NOT_FOUND */
  async run(
    agent: AuthenticatedAgent,
    { link_id: id }: z.output<typeof LINK_ID>,
  ): Promise<z.input<typeof SIGN_IN_LINK>> {
    return toSignInLink(await this.links.find(agent, id));
  }
}
