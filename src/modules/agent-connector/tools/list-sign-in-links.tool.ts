import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { SignInLinksService } from '../../sign-in-links/index.js';
import { SIGN_IN_LINK, toSignInLink } from './sign-in-link.js';
import { CURSOR, NEXT_CURSOR, READ_ONLY, Tool } from './tool.js';

const LINKS_PER_PAGE = 50;

const INPUT = z.strictObject({ cursor: CURSOR });
const OUTPUT = z.object({
  links: z.array(SIGN_IN_LINK),
  next_cursor: NEXT_CURSOR,
});

@Injectable()
export class ListSignInLinksTool extends Tool<typeof INPUT, typeof OUTPUT> {
  readonly description = {
    name: 'list_sign_in_links',
    title: 'List sign-in links',
    description:
      'Returns the sign-in links of the user from the last week, newest first, also those of other conversations. Use it to ' +
      'find a pending link before you create another one, or to find the ID of a link.',
    annotations: READ_ONLY,
  };
  readonly input = INPUT;
  readonly output = OUTPUT;

  constructor(private readonly links: SignInLinksService) {
    super();
  }

  /** @throws ApiError INVALID_CURSOR_FORMAT */
  async run(agent: AuthenticatedAgent, { cursor }: z.output<typeof INPUT>): Promise<z.input<typeof OUTPUT>> {
    const { links, nextCursor } = await this.links.page(agent, { cursor, limit: LINKS_PER_PAGE });
    return { links: links.map(toSignInLink), next_cursor: nextCursor };
  }
}
