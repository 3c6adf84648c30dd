import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6, type AddressInfo } from 'node:net';
import ipaddr from 'ipaddr.js';

type QueryType = 'A' | 'AAAA' | 'TXT';

/** The records of a name. */
export interface DnsRecords {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** TXT records of at most 255 characters. */
  readonly txt?: readonly string[];
  /** CNAME records that lead to the addresses. */
  readonly aliases?: readonly string[];
  /** 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED. */
  readonly errorCode?: number;
  /** Query types that get no response. */
  readonly silentFor?: readonly QueryType[];
}

/** A DNS server (UDP) whose records a test sets. */
export interface DnsServer {
  /** As in `WEBHOOK_DNS_SERVERS`. */
  readonly address: string;
  /** Each query as `A name`, in order. */
  readonly queries: readonly string[];
  /** Sets the records of a name. The queries of each type use these records in order, and then the last ones. */
  set(name: string, ...records: readonly DnsRecords[]): void;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<number, QueryType>> = { 1: 'A', 16: 'TXT', 28: 'AAAA' };
const HEADER_BYTES = 12;
const IS_RESPONSE = 0x8180;
const NXDOMAIN = 3;
const CNAME = 5;

/** Starts a DNS server before the tests of a file or a block, and closes it after them. */
export function useDnsServer(): DnsServer {
  const server = {} as DnsServer;
  beforeAll(async () => void Object.assign(server, await startDnsServer()));
  afterAll(() => server.close());
  return server;
}

export async function startDnsServer(): Promise<DnsServer> {
  const zone = new Map<string, readonly DnsRecords[]>();
  const queries: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message: Buffer, from: RemoteInfo) => {
    const { name, end } = readName(message);
    const typeNumber = message.readUInt16BE(end);
    const type = TYPES[typeNumber];
    const earlier = queries.filter((each) => each === `${type} ${name}`).length;
    queries.push(`${type} ${name}`);
    const versions = zone.get(name);
    const records = versions?.[Math.min(earlier, versions.length - 1)] ?? { errorCode: NXDOMAIN };
    if (type !== undefined && records.silentFor?.includes(type)) return;
    const responses = recordsFor(name, type, records);
    const header = Buffer.alloc(HEADER_BYTES);
    message.copy(header, 0, 0, 2);
    header.writeUInt16BE(IS_RESPONSE | (records.errorCode ?? 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(responses.length, 6);
    const query = message.subarray(HEADER_BYTES, end + 4);
    socket.send(Buffer.concat([header, query, ...responses]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    queries,
    set: (name, ...records) => void zone.set(name, records),
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function recordsFor(name: string, type: QueryType | undefined, records: DnsRecords): Buffer[] {
  if (records.errorCode !== undefined) return [];
  if (type === 'TXT')
    return (records.txt ?? []).map((text) =>
      record(name, 16, Buffer.from([text.length, ...Buffer.from(text)])),
    );
  const aliases = records.aliases ?? [];
  const owners = [name, ...aliases];
  const chain = aliases.map((alias, index) => record(owners[index] ?? '', CNAME, writeName(alias)));
  const addresses = (type === 'A' ? records.a : type === 'AAAA' ? records.aaaa : undefined) ?? [];
  return [
    ...chain,
    ...addresses.map((address) => record(owners.at(-1) ?? '', type === 'A' ? 1 : 28, bytesOf(address))),
  ];
}

/** Encodes a record with a long time to live, so that tests notice if the service caches it. */
function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(3600, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([writeName(owner), fixed, data]);
}

/** Parses IPv6 addresses through a URL, because ipaddr.js mistakes `::8.8.8.8` for `::ffff:8.8.8.8`. */
function bytesOf(address: string): Buffer {
  const canonical = isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
  return Buffer.from(ipaddr.parse(canonical).toByteArray());
}

function readName(message: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (let length = message[offset] ?? 0; length > 0; length = message[offset] ?? 0) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: offset + 1 };
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label, 'latin1')]));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}
