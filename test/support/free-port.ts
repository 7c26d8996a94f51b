/** Ports for servers that a test starts later, or again on the same port. */
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that the system gives to connections, so that a port stays free while its server restarts. */
const ports = { first: 15_000, end: 32_000 };
const host = '127.0.0.1';
const reservations: Socket[] = [];

/** A port of 127.0.0.1 that no other process of the tests is given while this process lives. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.first, ports.end);
    if ((await reserve(port)) && (await isUnused(port))) return port;
  }
}

/** Binds the UDP port of this number, which no server uses: the system gives it to one process, and frees it when that process ends. */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  const isOurs = await opens(socket, () => socket.bind({ port, address: host, exclusive: true }));
  if (isOurs) reservations.push(socket);
  else socket.close();
  return isOurs;
}

async function isUnused(port: number): Promise<boolean> {
  const server = createServer();
  if (!(await opens(server, () => server.listen(port, host)))) return false;
  server.close();
  await once(server, 'close');
  return true;
}

async function opens(emitter: Socket | ReturnType<typeof createServer>, open: () => void): Promise<boolean> {
  const opened = once(emitter, 'listening').then(
    () => true,
    () => false,
  );
  open();
  return opened;
}
