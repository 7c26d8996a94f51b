/** The computing processes of a node: limits of a job, results for its caller, and the order of accounts. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { Readable } from 'node:stream';
import test, { after } from 'node:test';
import { ToolError } from '../../../src/errors.ts';
import { sessionNiceness } from '../../../src/process-priority.ts';
import { ComputePool } from '../../../src/providers/compute/pool.ts';
import { type Job, type JobClass, JobStalled } from '../../../src/providers/compute/port.ts';
import { ComputeProcess } from '../../../src/providers/compute/process.ts';
import { until } from '../../support/until.ts';
import type { Deed } from './jobs/hostile.ts';

// The event loop of a test process is busy at times, which would leave one process to batch jobs (C6).
const pool = new ComputePool({ processes: 2, heapMb: 48, maxWaitingOfAccount: 4, maxWaiting: 6, utilization: () => 0 });
after(() => pool.close());

const jobOf = (timeMs: number, jobClass: JobClass = 'interactive', wallMs = 600_000): Job<{ deed: Deed; value?: unknown }, any> => ({
  name: 'deed',
  module: new URL('./jobs/hostile.ts', import.meta.url),
  timeMs,
  wallMs,
  jobClass,
});
type Options = { account?: string; timeMs?: number; wallMs?: number; jobClass?: JobClass };
const run = (deed: Deed, value?: unknown, { account = 'a', timeMs = 10_000, wallMs, jobClass, ...rest }: Options = {}) =>
  pool.run(jobOf(timeMs, jobClass, wallMs), { deed, value }, { account, ...rest });

const onLinux = { skip: existsSync('/proc/self/stat') ? false : 'reads /proc' };
const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

test('a job returns the result of its module, in a process without any setting of the service', async () => {
  const value = { text: 'ä', bytes: new Uint8Array([1, 2]), when: new Date(5), nothing: undefined };
  assert.deepEqual(await run('echo', value), value);
  assert.deepEqual(
    (await run('env')).filter((name: string) => !/^(NODE_CHANNEL|PWD$|SHLVL$|_$|OLDPWD$)/.test(name)),
    [],
  );
  assert.equal(await run('pid'), await run('pid'), 'a process is used again');
});

test('a process has a lower priority than the node, for any priority of the node', async () => {
  const own = getPriority();
  assert.equal(getPriority(await run('pid')), Math.min(19, own + 10));
});

const sessionsHavePriorities = existsSync('/proc/self/autogroup');
test('a batch job has a session of a lower priority than that of the node, which keeps its own', {
  skip: !sessionsHavePriorities && 'this system has no priorities of sessions',
}, async () => {
  const own = sessionNiceness('self');
  const pid = await run('pid', null, { jobClass: 'batch' });
  await until(() => sessionNiceness(pid) === Math.min(19, own + 10));
  assert.equal(sessionNiceness('self'), own);
});

test('batch jobs that have all their processes delay no interactive job', async () => {
  const controller = new AbortController();
  const hogs = ['a', 'b', 'c'].map((account) =>
    run('idle', null, { account, jobClass: 'batch', signal: controller.signal } as never).catch(() => {}),
  );
  assert.equal(await run('echo', 'at once'), 'at once');
  assert.deepEqual({ ...pool.size, processes: 0 }, { running: 2, waiting: 1, processes: 0 });
  controller.abort();
  await Promise.all(hogs);
});

test('while the event loop is busy, batch jobs leave two cores to the node, and the others start when it is idle again', async () => {
  let [busy, samples] = [1, 0];
  const utilization = () => {
    samples++;
    return busy;
  };
  const paced = new ComputePool({ processes: 2, cores: 3, sampleMs: 5, utilization });
  const begin = (account: string, jobClass: JobClass) =>
    paced.run(jobOf(10_000, jobClass), { deed: 'idle' }, { account }).catch(({ code }) => code);
  const interactive = [begin('a', 'interactive'), begin('b', 'interactive')];
  await until(() => paced.size.running === 2);
  await until(() => samples > 0);
  const batch = [begin('a', 'batch'), begin('b', 'batch')];
  await until(() => paced.size.running === 3);
  assert.equal(paced.size.waiting, 1);
  busy = 0;
  await until(() => paced.size.running === 4);
  await paced.close();
  assert.deepEqual(await Promise.all([...interactive, ...batch]), Array(4).fill('draining'));
});

test('a job that gets no processor time for longer than its limit is not ended', onLinux, async () => {
  const pid = await run('pid');
  const timeMs = 400;
  process.kill(pid, 'SIGSTOP');
  const began = performance.now();
  const starved = run('echo', 'later', { timeMs });
  await until(() => performance.now() - began > 5 * timeMs);
  process.kill(pid, 'SIGCONT');
  assert.equal(await starved, 'later');
});

test('a job that exceeds its time or memory limit is ended, its caller gets the reason, and other jobs continue', async () => {
  const neighbour = run('echo', 'here', { account: 'b' });
  for (const deed of ['loop', 'regex'] as const)
    await assert.rejects(run(deed, null, { timeMs: 300 }), { name: 'JobStopped', reason: 'time', message: 'deed took longer than 0.3 s' });
  for (const deed of ['objects', 'map', 'strings'] as const)
    await assert.rejects(run(deed), { name: 'JobStopped', reason: 'memory' }, deed);
  await assert.rejects(run('exit'), { name: 'JobStopped', reason: 'crash' });
  await assert.rejects(run('buffers'), (error: Error) => error.name === 'JobStopped' || error.name === 'RangeError');
  assert.equal(await neighbour, 'here');
  assert.equal(await run('echo', 'still'), 'still');
  const { jobs } = pool.stats;
  const counted = Object.fromEntries(jobs.read().map(({ labels, value }) => [labels!.outcome, value]));
  assert.equal(counted.stopped_time, 2);
  assert.ok(counted.stopped_memory! >= 3);
});

test('an error of a job reaches its caller unchanged', async () => {
  await assert.rejects(run('toolError'), (error) => error instanceof ToolError && error.message === 'no table');
  await assert.rejects(run('appError'), { name: 'AppError', code: 'conflict' });
  await assert.rejects(run('defect'), { name: 'TypeError', message: 'a defect' });
  await assert.rejects(run('stack'), { name: 'RangeError' });
  await assert.rejects(
    run('echo', () => 1),
    /could not be cloned/,
  );
});

test('a source is read in pieces, as often as the job opens it, and its own failure is returned to the caller', async () => {
  let opened = 0;
  let ahead = 0;
  const open = async () => {
    opened++;
    return Readable.from(
      (async function* () {
        for (let n = 0; n < 100; n++, ahead++) yield Buffer.alloc(10_000);
      })(),
    );
  };
  assert.equal(await pool.run(jobOf(10_000), { deed: 'bytes' }, { account: 'a', open }), 2_000_000);
  assert.equal(opened, 2);

  const failure = new Error('the disk is gone');
  const broken = async () =>
    Readable.from(Array.from({ length: 3 }, () => Buffer.alloc(10))).map((piece) => (ahead < 0 ? piece : Promise.reject(failure)));
  await assert.rejects(pool.run(jobOf(10_000), { deed: 'bytes' }, { account: 'a', open: broken }), (error) => error === failure);
  const missing = async () => {
    throw new ToolError('no such file');
  };
  await assert.rejects(pool.run(jobOf(10_000), { deed: 'bytes' }, { account: 'a', open: missing }), ToolError);
});

test('an aborted job leaves the queue, or ends with its process', async () => {
  const controllers = Array.from({ length: 3 }, () => new AbortController());
  const runs = controllers.map(({ signal }) => assert.rejects(run('loop', null, { signal } as never), { message: 'enough' }));
  await run('echo', 1, { account: 'b' });
  for (const controller of controllers) controller.abort(new Error('enough'));
  await Promise.all(runs);
  assert.equal(pool.size.waiting, 0);
});

test('an account that floods the pool delays another account by at most one job', async () => {
  const ended: string[] = [];
  const note = (name: string) => () => void ended.push(name);
  const floods = ['flood1', 'flood2'].flatMap((account) =>
    Array.from({ length: 2 }, () => run('loop', null, { account, timeMs: 400 }).catch(note(account))),
  );
  const quiet = run('echo', 1, { account: 'quiet' }).then(note('quiet'));
  await Promise.all([...floods, quiet]);
  assert.ok(ended.indexOf('quiet') <= 2, ended.join());
});

test('one account never has all processes', async () => {
  const controller = new AbortController();
  const hogs = Array.from({ length: 3 }, () => run('loop', null, { account: 'hog', signal: controller.signal } as never).catch(() => {}));
  assert.equal(await run('echo', 'at once', { account: 'quiet' }), 'at once');
  assert.equal(pool.size.waiting, 2);
  controller.abort();
  await Promise.all(hogs);
});

test('waiting jobs are limited, for an account and in all, and an account with few jobs is admitted', async () => {
  const controller = new AbortController();
  const options = (account: string) => ({ account, signal: controller.signal }) as never;
  const fill = (account: string, count: number) =>
    Array.from({ length: count }, () =>
      run('loop', null, options(account)).catch(({ code }) => (code === 'overloaded' ? account : 'ended')),
    );
  const all = fill('a', 5);
  await assert.rejects(run('echo', 1, options('a')), { code: 'overloaded' });
  all.push(...fill('b', 3), ...fill('c', 1));
  assert.deepEqual(pool.size, { running: 2, waiting: 6, processes: pool.size.processes });
  await new Promise(setImmediate);
  controller.abort();
  assert.deepEqual(
    (await Promise.all(all)).filter((outcome) => outcome !== 'ended'),
    ['a'],
  );
});

test('idle processes are ended, and a closed pool leaves none', async () => {
  const short = new ComputePool({ processes: 1, idleMs: 1 });
  assert.equal(await short.run(jobOf(1_000), { deed: 'echo', value: 1 }, { account: 'a' }), 1);
  while (short.size.processes > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const running = assert.rejects(short.run(jobOf(10_000), { deed: 'loop' }, { account: 'a' }), { code: 'draining' });
  await short.close();
  await running;
  assert.equal(short.size.processes, 0);
  await assert.rejects(short.run(jobOf(1_000), { deed: 'echo' }, { account: 'a' }), { code: 'draining' });
});

test(
  'a job that waits without computing is ended by the wall clock, and its caller gets an error that says to try again later',
  onLinux,
  async () => {
    await assert.rejects(run('idle', null, { wallMs: 50 }), (error) => error instanceof JobStalled && error.code === 'unavailable');
    const outcomes = pool.stats.jobs.read().map(({ labels }) => labels!.outcome);
    assert.ok(outcomes.includes('stopped_wall'));
  },
);

test('an aborted job does not wait for its process to start', onLinux, async () => {
  const single = new ComputePool({ processes: 1 });
  const controller = new AbortController();
  const before = new Set(children());
  const aborted = single.run(jobOf(10_000), { deed: 'idle' }, { account: 'a', signal: controller.signal });
  await until(() => single.size.processes === 1);
  const [starting] = children().filter((pid) => !before.has(pid));
  process.kill(starting!, 'SIGSTOP');
  controller.abort(new Error('enough'));
  await assert.rejects(aborted, { message: 'enough' });
  assert.equal(await single.run(jobOf(10_000), { deed: 'echo', value: 'next' }, { account: 'a' }), 'next');
  await single.close();
});

test('a process that does not start is ended at the wall-clock limit of its start', onLinux, async () => {
  const stuck = new ComputeProcess({ heapMb: 48, start: { timeMs: 30_000, wallMs: 100 }, isBatch: false });
  process.kill(stuck.pid, 'SIGSTOP');
  const { signal } = new AbortController();
  await assert.rejects(stuck.run({ job: jobOf(10_000) as Job<never, unknown>, input: { deed: 'echo' }, signal }), { code: 'unavailable' });
  await stuck.gone;
});

test('with one process for batch jobs, an account that always has further long jobs does not keep another from starting', async () => {
  const small = new ComputePool({ processes: 3, cores: 1, sampleMs: 1, utilization: () => 1 });
  const ended: string[] = [];
  let isOver = false;
  const begin = (account: string, timeMs: number, deed: Deed = 'echo') =>
    small.run(jobOf(timeMs, 'batch'), { deed }, { account }).then(() => void ended.push(account));
  const endless = async () => {
    while (!isOver) await begin('sweep', 80_000);
  };
  const sweeps = [endless(), endless(), endless()];
  await until(() => ended.length > 3);
  const before = ended.length;
  await Promise.all([begin('short', 10_000), begin('long', 80_000)]);
  const others = ended.slice(before);
  isOver = true;
  await Promise.all(sweeps);
  await small.close();
  // Each waits for the job that runs, and one more of the sweep between the two.
  assert.ok(others.filter((account) => account === 'sweep').length <= 3, others.join());
});
