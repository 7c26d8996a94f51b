/**
 * A node in a separate process, for tests that kill it: reports its address to its parent, gets the addresses of its peers, and answers
 * a part of the asks.
 */
import { setTimeout as after } from 'node:timers/promises';
import type { Member } from '../../../src/cluster/member.ts';
import { createTransport } from '../../../src/cluster/transport/transport.ts';
import { noLog } from '../../../src/log.ts';

const self = { incarnation: `child/${process.pid}`, name: 'child', host: '127.0.0.1', port: 0 };
const transport = await createTransport({ self, secretKey: process.env.CLUSTER_KEY!, log: noLog });
transport.serve(async ({ name }) => {
  if (name === 'never') await after(600_000);
  return process.pid;
});
const { port } = await transport.listen();
process.on('message', (members: Member[]) => transport.setMembers(members));
process.on('disconnect', () => process.exit());
process.send!({ ...self, port, roles: [], leaving: false });
