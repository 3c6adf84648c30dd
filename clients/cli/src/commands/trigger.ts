import type { Command } from 'commander';
import type { TriggerWebhookRequest } from '@merchant-connectivity/sdk';
import { action, integerOption, jsonOption, type Session } from '../program.js';

export function addTrigger(program: Command): void {
  program
    .command('trigger <event>')
    .description('send an event to your development endpoints and listeners')
    .option('--data <json>', 'fields of data, which replace those of the example')
    .option('--metadata <json>', 'the metadata of the session')
    .option('--user <id>', 'your own identifier for the user')
    .option('--session <id>', 'one of your sessions')
    .option('--merchant <id>', 'the merchant')
    .action(action(trigger));
}

interface TriggerOptions {
  readonly data?: string;
  readonly metadata?: string;
  readonly user?: string;
  readonly session?: string;
  readonly merchant?: string;
}

async function trigger(session: Session, options: TriggerOptions, event = ''): Promise<void> {
  const data = jsonOption('--data', options.data);
  const metadata = jsonOption('--metadata', options.metadata);
  const merchant = integerOption('--merchant', options.merchant);
  const response = await session.platform().triggerSandboxWebhook({
    event: event as TriggerWebhookRequest['event'],
    ...(data && { data }),
    ...(metadata && { metadata: metadata as Record<string, string> }),
    ...(options.user !== undefined && { external_user_id: options.user }),
    ...(options.session !== undefined && { session_id: options.session }),
    ...(merchant !== undefined && { merchant_id: merchant }),
  });
  session.output.result(response, [`Triggered ${event}`, response.event_id]);
}
