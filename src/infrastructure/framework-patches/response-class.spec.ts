import { once } from 'node:events';
import { createServer, ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createResponseClass } from './response-class.js';

/** Returns the head of a response that ends before the long body of its request has arrived. */
async function headWith(Response: typeof ServerResponse): Promise<string> {
  const server = createServer({ ServerResponse: Response }, (_request, response) => void response.end('no'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{');
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  server.close();
  return head.toString();
}

describe('createResponseClass', () => {
  it('closes the connection after the response to a request whose long body nobody reads', async () => {
    expect(await headWith(createResponseClass())).toMatch(/^Connection: close\r$/im);
  });

  it('is needed as long as Node.js goes on receiving such a body', async () => {
    expect(await headWith(ServerResponse)).toMatch(/^Connection: keep-alive\r$/im);
  });
});
