import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request, type Response } from 'express';
import { clientAddress, rateLimitKeyOfAddress } from './request-origin.js';

const V4 = '203.0.113.9';
const V6 = '2001:db8::a:1';
const CONNECTION = '127.0.0.1';

/** Starts an HTTP server that responds with the address and the rate limit key of the client. */
async function listen(hops: number): Promise<Server> {
  const app = express().set('trust proxy', hops);
  app.use((received: Request, response: Response) => {
    const address = clientAddress(received);
    response.json({ address, key: rateLimitKeyOfAddress(address) });
  });
  const server = createServer(app).listen(0, CONNECTION);
  await once(server, 'listening');
  return server;
}

async function seen(server: Server, headers: Record<string, string | string[]>): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: CONNECTION, port, headers }).end();
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return JSON.parse(text);
}

describe('The address of a client behind a proxy', () => {
  const servers: Server[] = [];
  beforeAll(async () => {
    for (const hops of [0, 1]) servers.push(await listen(hops));
  });
  afterAll(() => {
    for (const server of servers) server.close().closeAllConnections();
  });

  it.each<[string, string]>([
    [V4, V4],
    [`  ${V4}\t`, V4],
    [`${V4}:50001`, V4],
    [`${V4}:1`, V4],
    [`${V4}:`, V4],
    [`${V4}:_obfuscated`, V4],
    [`"${V4}:50001"`, V4],
    [`"${V4}"`, V4],
    [`[${V4}]`, V4],
    [`[${V4}]:80`, V4],
    [`::ffff:${V4}`, V4],
    [`::FFFF:${V4}`, V4],
    ['::ffff:cb00:7109', V4],
    // Behind a translator (NAT64), all clients would otherwise share a limit.
    [`64:ff9b::${V4}`, V4],
    [`[64:ff9b::${V4}]:443`, V4],
    ['0:0:0:0:0:ffff:cb00:7109', V4],
    [`[::ffff:${V4}]`, V4],
    [`[::ffff:${V4}]:50001`, V4],
    [`198.51.100.1, ${V4}:4000`, V4],
    [`${V4}, , ${V4}:4001`, V4],
    [`,${V4}:4002,`, V4],
    [V6, V6],
    ['2001:DB8::A:1', V6],
    ['2001:0db8:0000:0000:0000:0000:000a:0001', V6],
    ['2001:db8:0:0:0:0:a:1', V6],
    [`[${V6}]`, V6],
    [`[${V6}]:443`, V6],
    [`[${V6}]:`, V6],
    [`"[${V6}]:4711"`, V6],
    [`${V6}:50001`, V6],
    ['2001:db8:0:0:0:0:a:1:4711', V6],
    [`${V6}%eth0`, V6],
    [`[${V6}%25eth0]:443`, V6],
    [`[${V6}%1]`, V6],
    // No address: the address of the connection.
    ['', CONNECTION],
    [',', CONNECTION],
    ['unknown', CONNECTION],
    ['unknown:50001', CONNECTION],
    ['_hidden', CONNECTION],
    ['-', CONNECTION],
    ['203.0.113', CONNECTION],
    ['203.0.113.009', CONNECTION],
    ['203.0.113.256', CONNECTION],
    ['3405803785', CONNECTION],
    ['0xcb007109', CONNECTION],
    ['client.example.com:80', CONNECTION],
    [`for=${V4}`, CONNECTION],
    [`${V4} 198.51.100.1`, CONNECTION],
    ['[2001:db8::a:1', CONNECTION],
    ['[]:80', CONNECTION],
    [':'.repeat(2_000), CONNECTION],
  ])('X-Forwarded-For: %j is %s', async (header, address) => {
    const key = address === V6 ? '2001:db8::' : address;
    expect(await seen(servers[1]!, { 'x-forwarded-for': header })).toEqual({ address, key });
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:3::1'],
    ['2001:db8::1', '2001:db8:0:0:1::', '2001:db8:0:1::1'],
    ['::1', '0:0:0:0:5:6:7:8', '0:0:0:1::'],
    ['2001:DB8:A::1', '2001:0db8:000a:0000::2', '2001:db8:a:1::'],
  ])('has one key for the addresses of an IPv6 /64 network, such as %s', async (first, second, other) => {
    const keyOf = async (address: string): Promise<unknown> =>
      ((await seen(servers[1]!, { 'x-forwarded-for': address })) as { key: unknown }).key;
    expect(await keyOf(second)).toBe(await keyOf(first));
    expect(await keyOf(other)).not.toBe(await keyOf(first));
  });

  it.each([
    ['2002:cb00:7109:1::1', V4],
    ['2002:cb00:7109:ffff:1:2:3:4', V4],
    ['2001:0:c633:6401:0:1234:34ff:8ef6', V4],
    ['2001:0:c633:6401::34ff:8ef6', V4],
    ['2001:db8:cb00:7109::1', '2001:db8:cb00:7109::'],
  ])('has the key of the IPv4 address inside, if there is one: %s', async (address, key) => {
    expect(await seen(servers[1]!, { 'x-forwarded-for': address })).toEqual({ address, key });
  });

  it.each<[string | string[]]>([
    ['for=192.0.2.43'],
    ['for="192.0.2.43:47011"'],
    ['for="[2001:db8:cafe::17]:4711"'],
    ['for="[2001:db8:cafe::17]", for=unknown'],
    ['for=_gazonk;proto=https;by=203.0.113.43'],
    ['For=192.0.2.60; By=203.0.113.43; HOST=example.com'],
    ['for=192.0.2.43, for=198.51.100.17'],
    ['for=unknown'],
    ['for='],
    ['192.0.2.43'],
    [['for=192.0.2.43', 'for=192.0.2.44']],
  ])('does not depend on Forwarded: %j', async (forwarded) => {
    const header = { 'x-forwarded-for': `${V4}:50001` };
    expect(await seen(servers[1]!, { forwarded, ...header })).toMatchObject({ address: V4 });
    expect(await seen(servers[1]!, { forwarded })).toMatchObject({ address: CONNECTION });
  });

  it('is the address of the connection if no proxy is trusted', async () => {
    expect(await seen(servers[0]!, { 'x-forwarded-for': V4, forwarded: `for=${V4}` })).toMatchObject({
      address: CONNECTION,
    });
  });

  it('is the last entry of repeated headers', async () => {
    expect(await seen(servers[1]!, { 'x-forwarded-for': ['192.0.2.1', `${V4}:4000`] })).toMatchObject({
      address: V4,
    });
  });
});
