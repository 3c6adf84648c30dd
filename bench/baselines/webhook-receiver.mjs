/**
 * A receiver that records each arrival and responds 200: to paths that begin with `/slow` after 150 ms, with
 * `/after-100` after 100 ms, with `/dead` never. For paths that begin with `/refuse-2`, it responds 503 to 2 % of the first
 * attempts of events.
 */
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:http';

const journal = createWriteStream(process.env.JOURNAL, { flags: 'a' });
const seen = new Set();
const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  if (request.url.startsWith('/dead')) return;
  request.resume();
  request.on('end', () => {
    journal.write(`${request.headers['webhook-id']} ${at} ${request.url}\n`);
    const respond = () => response.writeHead(isRefused(request) ? 503 : 200).end();
    const delay = request.url.startsWith('/slow')
      ? 150
      : Number(/^\/after-(\d+)/.exec(request.url)?.[1] ?? 0);
    if (delay > 0) setTimeout(respond, delay);
    else respond();
  });
});
function isRefused({ url, headers }) {
  const percent = Number(/^\/refuse-(\d+)/.exec(url)?.[1] ?? 0);
  if (percent === 0 || seen.has(headers['webhook-id'])) return false;
  seen.add(headers['webhook-id']);
  return Math.random() < percent / 100;
}

server.keepAliveTimeout = 70_000;
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
process.once('SIGTERM', () => {
  server.closeAllConnections();
  journal.end(() => process.exit(0));
});
