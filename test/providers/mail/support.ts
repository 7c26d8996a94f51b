/** A mail server for tests that speaks SMTP and can fail at any step. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** What the server does in place of its ordinary answer: another reply, or an end of the connection. */
export type Behaviour = Partial<Record<'greeting' | 'EHLO' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'content' | 'accepted', string | 'cut'>>;

export type SmtpServer = { url: string; mails: string[]; commands: string[]; most: () => number; close(): Promise<void> };

export async function smtpServer(behaviour: Behaviour = {}): Promise<SmtpServer> {
  const mails: string[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  let most = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    converse(socket, behaviour, mails, commands);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    commands,
    most: () => most,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

const ordinary = {
  greeting: '220 test ESMTP',
  EHLO: '250-test\r\n250-AUTH PLAIN LOGIN\r\n250 SIZE 1000000',
  AUTH: '235 welcome',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  accepted: '250 taken',
};

function converse(socket: Socket, behaviour: Behaviour, mails: string[], commands: string[]): void {
  const answer = (point: keyof typeof ordinary) => {
    const reply = behaviour[point] ?? ordinary[point];
    if (reply === 'cut') socket.destroy();
    else socket.write(`${reply}\r\n`);
  };
  let input = '';
  let content = false;
  answer('greeting');
  socket.setEncoding('utf8').on('data', (chunk) => {
    input += chunk;
    if (content && behaviour.content === 'cut') return void socket.destroy();
    for (;;) {
      const end = input.indexOf(content ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const part = input.slice(0, end);
      input = input.slice(end + (content ? 5 : 2));
      if (content) {
        content = false;
        mails.push(part.replace(/^\.\./gm, '.'));
        answer('accepted');
        continue;
      }
      commands.push(part);
      const command = part.slice(0, 4).toUpperCase();
      if (command === 'QUIT') socket.end('221 bye\r\n');
      else if (command === 'DATA') {
        content = behaviour.DATA === undefined;
        answer('DATA');
      } else if (command in ordinary) answer(command as keyof typeof ordinary);
      else socket.write('500 what\r\n');
    }
  });
}
