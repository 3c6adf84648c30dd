import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface ReceivedMail {
  readonly to: string;
  /** The message with its headers. */
  readonly content: string;
  readonly at: number;
}

/** A reply such as `250 OK`. `reset` resets the connection without a reply. */
type Reply = string;

/** A mail server on the loopback interface, whose replies tests can change. */
export class SmtpServer {
  /** The names with which clients introduced themselves. */
  readonly names: string[] = [];
  /** The emails that the server has accepted, also if its reply was lost. */
  readonly accepted: ReceivedMail[] = [];
  connections = 0;
  onRecipient: (to: string) => Reply = () => '250 OK';
  /** Decides about a message. `accept, reset` accepts it, and the reply is lost. */
  onMessage: (mail: ReceivedMail) => Reply = () => '250 Accepted';

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.converse(socket));
  }

  static async start(port = 0): Promise<SmtpServer> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new SmtpServer(server);
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private readonly sockets = new Set<Socket>();

  private converse(socket: Socket): void {
    this.connections += 1;
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket)).on('error', () => undefined);
    let [input, to, isData] = ['', '', false];
    const reply = (text: Reply): void => {
      if (text === 'reset') socket.resetAndDestroy();
      else socket.write(`${text}\r\n`);
    };
    const command = (line: string): void => {
      const [verb = '', rest = ''] = line.split(' ', 2);
      if (/^(?:EHLO|HELO)$/i.test(verb)) {
        this.names.push(rest);
        reply('250 mail.example.com');
      } else if (/^RCPT$/i.test(verb)) {
        to = /<([^>]*)>/.exec(line)?.[1] ?? '';
        reply(this.onRecipient(to));
      } else if (/^DATA$/i.test(verb)) {
        isData = true;
        reply('354 Go ahead');
      } else if (/^QUIT$/i.test(verb)) socket.end('221 Bye\r\n');
      else reply('250 OK');
    };
    const message = (content: string): void => {
      const mail = { to, content, at: Date.now() };
      const verdict = this.onMessage(mail);
      if (/^(?:250|accept)/.test(verdict)) this.accepted.push(mail);
      reply(verdict.replace('accept, ', ''));
    };
    reply('220 mail.example.com ESMTP');
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      input += chunk;
      for (;;) {
        const end = isData ? '\r\n.\r\n' : '\r\n';
        const index = input.indexOf(end);
        if (index < 0) return;
        const text = input.slice(0, index);
        input = input.slice(index + end.length);
        if (!isData) command(text);
        else {
          isData = false;
          message(text);
        }
      }
    });
  }
}
