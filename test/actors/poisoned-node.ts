/**
 * A node in a separate process, for `poison-effects.test.ts`: some of its effects end the process; it reports ended effects to its
 * parent.
 */
import { Runtime } from '../../src/actors/runtime.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { noLog } from '../../src/log.ts';
import { Database } from '../../src/storage/database.ts';
import { effects, probe, probeActor, probeOptions } from '../support/probe-actor.ts';

const [url, begin] = [process.argv[2]!, process.argv[3] === 'begin'];
const database = new Database(url, { schema: { entities: probeOptions.entities } });
const runtime = new Runtime({ database, placement: new SingleNode(url, 'poisoned', noLog), log: noLog, suspectPauseMs: 100 });
runtime.register([probeActor]);
process.once('disconnect', () => process.exit());
const { promise: allRecorded, resolve: onAllRecorded } = Promise.withResolvers<void>();
effects.work = async ({ ms, ends }) => {
  await allRecorded;
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (ends) process.exit(7);
  return ms;
};
await runtime.start();
if (begin) {
  const inputs = [{ ms: 200 }, { ms: 20, ends: true }, { ms: 100 }, { ms: 300 }];
  await Promise.all(inputs.map((input, i) => runtime.actors.ask(probe, `p${i}`, 'begin', { effect: 'work', input })));
}
onAllRecorded();
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { rows } = await database.read({ text: 'select count(*)::int as left from effect' });
  if (rows[0].left === 0) process.send!('all effects have ended');
}
