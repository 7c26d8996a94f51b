/** One of two nodes that ask each other through the cluster's transport, as the service makes it; the actors behind it are left out. */
import { randomUUID } from 'node:crypto';
import { monotonicMs } from '../../src/clock.ts';
import type { Member } from '../../src/cluster/member.ts';
import { createTransport } from '../../src/cluster/transport/transport.ts';
import { createLog } from '../../src/log.ts';
import { drive } from '../support/drive.ts';
import { serveCalls } from '../support/program.ts';

const self = { incarnation: `bench/${randomUUID()}`, name: 'bench', host: '127.0.0.1', port: 0 };
const secretKey = 'a secret key that only this measurement knows';
const transport = await createTransport({ self, secretKey, log: createLog('error') });
const { peers } = transport;
const ids = Array.from({ length: 1_000 }, (_, i) => `c${i}`);
let other: Member;

peers.serve(({ input }) => input ?? 0);

serveCalls({
  async listen(): Promise<Member> {
    const { port } = await transport.listen();
    return { ...self, port, roles: ['actors'], leaving: false };
  },

  async meet(member: Member) {
    other = member;
    const up = new Promise<void>((resolve) => peers.onUp(() => resolve()));
    peers.setMembers([member]);
    await up;
  },

  /** The input comes back; without one, a number does. */
  ask({ inFlight, ms, input }: { inFlight: number; ms: number; input: unknown }) {
    const rest = { kind: 'counter', name: 'touch', input, query: true, repeat: false, commandId: null, effectId: null, trace: null };
    return drive((n) => peers.ask(other, { ...rest, id: ids[n % ids.length]!, deadlineMs: monotonicMs() + 10_000 }), inFlight, ms, false);
  },
});
