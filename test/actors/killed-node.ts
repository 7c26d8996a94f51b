/** A node in a separate process, for `kill-9.test.ts`: works continuously, reports acknowledged work to its parent, and is killed. */
import { Runtime } from '../../src/actors/runtime.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { noLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { effects, probe, probeActor, probeOptions } from '../support/probe-actor.ts';

const [url, from] = [process.argv[2]!, Number(process.argv[3])];
const database = new Database(url, { schema: { entities: probeOptions.entities } });
const runtime = new Runtime({ database, placement: new SingleNode(url, 'killed', noLog), log: noLog });
runtime.register([probeActor]);
effects.work = async ({ i }) => i;
process.once('disconnect', () => process.exit());
await runtime.start();

for (let i = from; ; i++) {
  const { actors } = runtime;
  // What is refused, e.g. by a full mailbox of a busy machine, is not acknowledged.
  void Promise.all([
    actors.ask(probe, 'sender', 'send', { to: 'receiver', inputs: [i] }),
    actors.ask(probe, 'counter', 'add', { n: 1 }, { commandId: `add ${i}` }),
    actors.ask(probe, `worker ${i % 5}`, 'begin', { effect: 'work', input: { i } }),
  ]).then(
    () => process.send!(i),
    () => {},
  );
  await new Promise((resolve) => setImmediate(resolve));
  // A third of these wait for one actor, whose mailbox holds a hundred while its state is loaded.
  if (runtime.health.pending > 150) await actors.ask(probe, 'counter', 'touch', null).catch(() => {});
}
