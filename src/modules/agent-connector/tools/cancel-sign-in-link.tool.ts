import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { SignInLinksService } from '../../sign-in-links/index.js';
import { LINK_ID, SIGN_IN_LINK, toSignInLink } from './sign-in-link.js';
import { Tool } from './tool.js';

@Injectable()
export class CancelSignInLinkTool extends Tool<typeof LINK_ID, typeof SIGN_IN_LINK> {
  readonly description = {
    name: 'cancel_sign_in_link',
    title: 'Cancel sign-in link',
    description:
      'Makes a pending sign-in link useless. Use it when the user changes their mind. Connected accounts stay connected.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
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
    return toSignInLink(await this.links.cancel(agent, id));
  }
}
