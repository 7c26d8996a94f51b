/** The limit of asking actors: one promise chain per actor, found by the actor's id, keeps its turns in order, and there is nothing else. */
import { drive } from '../support/drive.ts';
import { serveCalls } from '../support/program.ts';

const ids = Array.from({ length: 1_000 }, (_, i) => `c${i}`);
const states = new Map(ids.map((id) => [id, { value: 0 }]));
const chains = new Map<string, Promise<unknown>>(ids.map((id) => [id, Promise.resolve()]));

function ask(id: string): Promise<number> {
  const turn = chains.get(id)!.then(() => touch(states.get(id)!));
  chains.set(id, turn);
  return turn;
}

function touch(state: { value: number }): number {
  return state.value;
}

serveCalls({
  touch: ({ inFlight, ms }: { inFlight: number; ms: number }) => drive((n) => ask(ids[n % ids.length]!), inFlight, ms, false),
});
