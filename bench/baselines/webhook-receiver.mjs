/**
 * A receiver that records each arrival and responds 200: to paths that begin with `/slow` after 150 ms, with
 * `/after-100` after 100 ms, with `/dead` never.
 */
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:http';

const journal = createWriteStream(process.env.JOURNAL, { flags: 'a' });
const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  if (request.url.startsWith('/dead')) return;
  request.resume();
  request.on('end', () => {
    journal.write(`${request.headers['webhook-id']} ${at} ${request.url}\n`);
    const respond = () => response.writeHead(200).end();
    const delay = request.url.startsWith('/slow')
      ? 150
      : Number(/^\/after-(\d+)/.exec(request.url)?.[1] ?? 0);
    if (delay > 0) setTimeout(respond, delay);
    else respond();
  });
});
server.keepAliveTimeout = 70_000;
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
process.once('SIGTERM', () => {
  server.closeAllConnections();
  journal.end(() => process.exit(0));
});
