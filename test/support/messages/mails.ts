import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundTasks } from '../../../src/infrastructure/http/index.js';
import { EmailsJob } from '../../../src/modules/dashboard-users/emails/emails.job.js';
import { eventually } from '../eventually.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { TestApp } from '../test-app.js';

/** Sends the emails that are due, as the background work does. */
export async function sendEmails({ app }: Pick<TestApp, 'app'>): Promise<void> {
  await app.get(BackgroundTasks).settled();
  await app.get(EmailsJob).run();
  await app.get(BackgroundTasks).settled();
}

/** Returns the emails to an address, which the service writes to files, in no particular order. */
export async function mailsTo(service: TestApp, address: string): Promise<string[]> {
  await sendEmails(service);
  const directory = join(service.dataDirectory, 'mail');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .filter((mail) => mail.includes(`\r\nTo: ${address}\r\n`));
}

/** Waits for the email with this subject. */
export function mailTo(service: TestApp, address: string, subject: string): Promise<string> {
  return eventually(`an email to ${address} with the subject: ${subject}`, async () =>
    (await mailsTo(service, address)).find((mail) => mail.includes(`\r\nSubject: ${subject}\r\n`)),
  );
}

/** Returns the token of the link in an email about a password. */
export function tokenIn(mail: string): string {
  const token = /\/password-reset\/confirm\?token=([\w-]{43})\r\n/.exec(mail)?.[1] ?? '';
  rememberSecret(token);
  return token;
}
