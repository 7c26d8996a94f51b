/** Receivers of webhooks, each on a port of its own, that do no more than find the event's number in what arrives and answer; or hang, or answer 500. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { machineMs } from '../support/machine-clock.ts';
import { serveCalls } from '../support/program.ts';

type Manner = 'well' | 'hangs' | 'fails';
const answers = { well: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', fails: 'HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n' };
/** Triples of receiver, number of the event, time of its arrival. */
let arrivals: number[] = [];

serveCalls({
  /** @returns a port for each */
  async listen({ manners }: { manners: Manner[] }): Promise<number[]> {
    return Promise.all(
      manners.map(async (manner, i) => {
        const server = createServer((socket) => receive(socket, i, manner)).listen(0, '127.0.0.1');
        await once(server, 'listening');
        return (server.address() as AddressInfo).port;
      }),
    );
  },

  /** What has arrived since the last time. */
  arrived() {
    const taken = Float64Array.from(arrivals);
    arrivals = [];
    return taken;
  },
});

function receive(socket: Socket, receiver: number, manner: Manner): void {
  let text = '';
  socket.setNoDelay(true).on('error', () => {});
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    for (let end = endOfRequest(text); end > 0; end = endOfRequest(text)) {
      const at = text.indexOf('"seq":');
      arrivals.push(receiver, Number.parseInt(text.slice(at + 6, at + 20), 10), machineMs());
      text = text.slice(end);
      if (manner !== 'hangs') socket.write(answers[manner]);
    }
  });
}

/** 0: it has not arrived whole. */
function endOfRequest(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(text);
  const end = head + 4 + Number(length?.[1] ?? 0);
  return text.length >= end ? end : 0;
}
