import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.js';
import { freePort, isListening } from './ports.js';
import { RECEIVER_CERTIFICATES, RECEIVER_KEY } from '../webhooks/receiver-certificates.js';

const FILE = ['/usr/sbin/nginx', '/usr/local/bin/nginx', '/opt/homebrew/bin/nginx'].find((file) =>
  existsSync(file),
);

/** Skips the test where nginx isn't installed, except in CI. */
export const itWithNginx = FILE === undefined && process.env.CI !== 'true' ? it.skip : it;

/** Runs a sample of the documentation, with only its addresses, certificates and log files replaced. */
export async function startNginx(
  sample: string,
  serviceUrl: string,
): Promise<AsyncDisposable & { readonly url: string }> {
  if (FILE === undefined)
    throw new Error('There is no nginx: install it (on Debian: apt-get install nginx).');
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'nginx-'));
  // The workers of nginx that root starts belong to another user.
  chmodSync(directory, 0o755);
  const file = (name: string, content: string): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  const site = sample
    .replaceAll('listen 443', `listen 127.0.0.1:${port}`)
    .replace(/(ssl_certificate +)\S+;/, `$1${file('certificate.pem', RECEIVER_CERTIFICATES.trusted)};`)
    .replace(/(ssl_certificate_key +)\S+;/, `$1${file('key.pem', RECEIVER_KEY)};`)
    .replace('server 127.0.0.1:3001;', `server ${new URL(serviceUrl).host};`)
    .replace(/ +server 127.0.0.1:3002;\n/, '')
    .replaceAll('/var/log/nginx', directory);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(directory, kind)};`,
  );
  const configuration = file(
    'nginx.conf',
    [
      'daemon off;',
      `pid ${join(directory, 'pid')};`,
      `error_log ${join(directory, 'error.log')};`,
      'events {}',
      `http { ${folders.join(' ')}\n${site} }`,
    ].join('\n'),
  );
  const child = spawn(FILE, ['-e', join(directory, 'error.log'), '-c', configuration], { stdio: 'ignore' });
  await eventually('nginx listens', async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${join(directory, 'error.log')}`);
    return isListening(port);
  });
  return {
    url: `https://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
