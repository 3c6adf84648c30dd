import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { rememberSecret } from './run-directory.js';
import type { TestApp } from './test-app.js';

/** The mails to an address that the service wrote into files, in no order. */
export function mailsTo(service: TestApp, address: string): string[] {
  const directory = join(service.dataDirectory, 'mail');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .filter((mail) => mail.includes(`\r\nTo: ${address}\r\n`));
}

/** Waits for the mail with this subject. */
export function mailTo(service: TestApp, address: string, subject: string): Promise<string> {
  return eventually(`${address} gets a mail about: ${subject}`, () =>
    mailsTo(service, address).find((mail) => mail.includes(`\r\nSubject: ${subject}\r\n`)),
  );
}

/** The token of the link in a mail about a password. */
export function tokenIn(mail: string): string {
  const token = /\/password-reset\/confirm\?token=([\w-]{43})\r\n/.exec(mail)?.[1] ?? '';
  rememberSecret(token);
  return token;
}
