/** Asks from one process to another and back: what frames, credit, deadlines and numbers cost on top of a stream of raw gRPC. */
import type { Member } from '../src/cluster/member.ts';
import { alternate } from './support/alternate.ts';
import type { Driven } from './support/drive.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import type { Surroundings } from './support/surroundings.ts';

/** As large as a small command's. */
const small = { accountId: 'acct_01k9yq3v7b8m2n4p6r8t0w2x4z', amount: 1_250, note: 'monthly' };

const loads = [
  { inFlight: 64, input: null, row: 'asks of another process, 64 in flight', reach: { atLeast: 0.5 } },
  { inFlight: 512, input: null, row: 'asks of another process, 512 in flight', reach: { atLeast: 0.5 } },
  { inFlight: 512, input: small, row: 'asks with 80 bytes of JSON, 512 in flight', reach: null },
];

export async function benchRemote(surroundings: Surroundings): Promise<Row[]> {
  const node = (name: string): Program => new Program('programs/remote-node.ts', { nodeOptions: surroundings.profiled(name) });
  const ours = { asker: node('remote-asker'), owner: node('remote-owner') };
  const limit = { asker: new Program('limits/raw-grpc.ts'), owner: new Program('limits/raw-grpc.ts') };
  try {
    const owner = await ours.owner.call<Member>('listen');
    const asker = await ours.asker.call<Member>('listen');
    await Promise.all([ours.asker.call('meet', owner), ours.owner.call('meet', asker)]);
    await limit.asker.call('meet', await limit.owner.call('listen'));
    const rows: Row[] = [];
    for (const { row, reach, ...load } of loads) {
      const of = (program: Program) => async (ms: number) => {
        const { count, elapsedMs } = await program.call<Driven>('ask', { ...load, ms });
        return { perSecond: (count * 1_000) / elapsedMs };
      };
      const { ours: rate, limit: raw, noisy } = await alternate(surroundings.seconds, of(ours.asker), of(limit.asker));
      rows.push(makeRow({ bench: 'remote', row, unit: '/s', ours: rate, limit: raw, noisy, reach }));
    }
    return rows;
  } finally {
    await Promise.all([ours, limit].flatMap(({ asker, owner }) => [asker.end(), owner.end()]));
  }
}
