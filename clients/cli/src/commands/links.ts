import type { Command } from 'commander';
import type { CreateSignInLinkRequest, SignInLinkResponse } from '@merchant-connectivity/sdk';
import { fieldsOf, timeOf } from '../output.js';
import {
  action,
  countOf,
  first,
  integerOption,
  jsonOption,
  withListOptions,
  type ListOptions,
  type Session,
} from '../program.js';

export function addLinks(program: Command): void {
  const links = program.command('links').description('links with which users sign in to merchants');
  links
    .command('create')
    .description('create a link, which requires the login of the user, or is sent to a phone')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .requiredOption('--merchant <id>', 'the merchant, as listed by mcs merchants')
    .option('--phone <number>', 'send the link there, such as +12125550123')
    .option('--return-url <url>', 'where the user goes afterward')
    .option('--expires-in <seconds>', 'seconds until the link expires')
    .option('--metadata <json>', 'your own data, which the webhooks of the sign-in contain')
    .action(action(create));
  links.command('get <id>').description('show a link').action(action(get));
  withListOptions(links.command('list'))
    .description('list the links of a user from the last week, newest first')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .action(action(list));
  links
    .command('cancel <id>')
    .description('cancel a link, so that nobody can sign in with it')
    .action(action(cancel));
}

interface CreateOptions {
  readonly user: string;
  readonly merchant: string;
  readonly phone?: string;
  readonly returnUrl?: string;
  readonly expiresIn?: string;
  readonly metadata?: string;
}

async function create(session: Session, options: CreateOptions): Promise<void> {
  const { user, merchant, phone, returnUrl } = options;
  const seconds = integerOption('--expires-in', options.expiresIn);
  const metadata = jsonOption('--metadata', options.metadata);
  const created = await session.platform().createSignInLink({
    external_user_id: user,
    merchant_id: integerOption('--merchant', merchant) ?? 0,
    ...(phone !== undefined && { proof: 'phone' as const, phone_number: phone }),
    ...(returnUrl !== undefined && { return_url: returnUrl }),
    ...(seconds !== undefined && { expires_in: seconds }),
    ...(metadata && { metadata: metadata as NonNullable<CreateSignInLinkRequest['metadata']> }),
  });
  // Scripts read the address of a link. One that was sent to a phone has none.
  session.output.result(created, ...(created.url === null ? linesOf(created) : [created.url]));
}

async function get(session: Session, _options: object, id = ''): Promise<void> {
  const link = await session.platform().getSignInLink(id);
  session.output.result(link, ...linesOf(link));
}

function linesOf({ merchant, ...link }: SignInLinkResponse): string[] {
  return fieldsOf({ ...link, merchant: merchant.name });
}

async function list(session: Session, options: ListOptions & { readonly user: string }): Promise<void> {
  const pages = session.platform().listSignInLinks({ external_user_id: options.user });
  session.output.table(await first(countOf(options), pages), {
    id: ({ id }: SignInLinkResponse) => id,
    merchant: ({ merchant }: SignInLinkResponse) => merchant.name,
    status: ({ status }: SignInLinkResponse) => status,
    reason: ({ failure_reason: reason }: SignInLinkResponse) => reason,
    created: ({ created_at: time }: SignInLinkResponse) => timeOf(time),
    expires: ({ expires_at: time }: SignInLinkResponse) => timeOf(time),
  });
}

async function cancel(session: Session, _options: object, id = ''): Promise<void> {
  const link = await session.platform().cancelSignInLink(id);
  session.output.result(link, ...fieldsOf(link));
}
