/** A separate process with many connections to one server: each sends one request and then waits until it is closed. */
import net from 'node:net';

const [port, count] = process.argv.slice(2).map(Number) as [number, number];
const atOnce = 250;
let begun = 0;
let answered = 0;
let closed = 0;

function connect(): void {
  if (begun === count) return;
  begun++;
  const socket = net.connect(port, '127.0.0.1');
  socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  socket.once('data', () => {
    if (++answered === count) process.send!({ answered });
    connect();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (++closed === count) process.send!({ closed }, () => process.exit());
  });
}

for (let i = 0; i < atOnce; i++) connect();
