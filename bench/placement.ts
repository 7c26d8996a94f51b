/**
 * The plan of 1,024 shards over many nodes: how long it takes, and how many shards a change of nodes moves, beside the fewest that any plan
 * could move. Nothing but arithmetic; the nodes are names.
 */
import type { Member, View } from '../src/cluster/member.ts';
import { type Plan, planOf } from '../src/cluster/placement-plan.ts';
import { makeRow, type Row } from './support/row.ts';

const rounds = 200;
/** How long a plan may take. */
const limitMs = 10;

export async function benchPlacement(): Promise<Row[]> {
  return [3, 30, 100].flatMap((nodes) => {
    const before = planOf(viewOf(nodes));
    const joined = planOf(viewOf(nodes + 1));
    const left = planOf(viewOf(nodes - 1));
    const lastNode = nodeName(nodes - 1);
    return [
      makeRow({ bench: 'placement', row: `plan, ${nodes} nodes`, unit: 'ms', ours: planMs(nodes), limit: limitMs, reach: { atMost: 1 } }),
      makeRow({
        bench: 'placement',
        row: `moves when one joins ${nodes} nodes`,
        unit: 'shards',
        ours: moves(before, joined),
        // The newcomer's fair share has to come from somewhere.
        limit: Math.floor(before.length / (nodes + 1)),
        reach: null,
      }),
      makeRow({
        bench: 'placement',
        row: `moves when one of ${nodes} nodes leaves`,
        unit: 'shards',
        ours: moves(before, left),
        limit: before.filter((owner) => owner === lastNode).length,
        reach: { atMost: 1 },
      }),
    ];
  });
}

/** The median, warm. */
function planMs(nodes: number): number {
  const view = viewOf(nodes);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now();
    planOf(view);
    times.push(performance.now() - startedMs);
  }
  return times.sort((a, b) => a - b)[rounds / 2]!;
}

function moves(from: Plan, to: Plan): number {
  return from.filter((owner, shard) => owner !== to[shard]).length;
}

function viewOf(nodes: number): View {
  return { number: 1, members: Array.from({ length: nodes }, (_, i) => member(nodeName(i))) };
}

function nodeName(index: number): string {
  return `troupe-${index}`;
}

function member(name: string): Member {
  return { incarnation: name, name, host: '127.0.0.1', port: 1, roles: ['edge', 'actors'], leaving: false };
}
