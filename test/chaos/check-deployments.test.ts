/** The checker of deployments: a correct run, and for each rule histories that break only this rule. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkDeployments, deploymentRules } from './check-deployments.ts';
import type { KeptDeployments } from './gather-deployments.ts';
import type { Operation } from './history.ts';

type Run = { operations: Operation[]; kept: KeptDeployments & { atHosts: KeptDeployments['atHosts'][number][] } };

function operationOf(some: Partial<Operation>): Operation {
  const times = { invokedMs: 1, begunMs: 1, endedMs: 2, requests: 1 };
  return { id: 1, account: 'a', name: 'deploy', subject: '', value: null, outcome: 'done', status: 201, result: null, ...times, ...some };
}

/** One that is live, one that was cancelled, and one that no client has an answer for, but that its client may have created. */
function goodRun(): Run {
  const row = { code: null, message: null, providerId: null, fingerprint: 'f', isUnderWay: false };
  return {
    operations: [
      operationOf({ subject: 'ws_1', value: 'f', result: 'dep_1' }),
      operationOf({ subject: 'ws_2', value: 'f', result: 'dep_2' }),
      operationOf({ subject: 'ws_3', value: 'f', outcome: 'unknown' }),
      operationOf({ name: 'cancel deployment', subject: 'dep_2', result: 'failed' }),
    ],
    kept: {
      deployments: [
        { ...row, id: 'dep_1', workspace: 'ws_1', status: 'live', providerId: 'p1' },
        { ...row, id: 'dep_2', workspace: 'ws_2', status: 'failed', code: 'cancelled', message: 'It was cancelled', fingerprint: null },
        { ...row, id: 'dep_3', workspace: 'ws_3', status: 'live', providerId: 'p3' },
      ],
      events: [
        ...['building', 'deploying', 'live'].map((type) => ({ deployment: 'dep_1', type: `deployment.${type}` })),
        ...['building', 'failed'].map((type) => ({ deployment: 'dep_2', type: `deployment.${type}` })),
        ...['building', 'deploying', 'live'].map((type) => ({ deployment: 'dep_3', type: `deployment.${type}` })),
      ],
      views: [{ node: 'node-1', id: 'dep_1', status: 'live' }],
      atHosts: [
        { host: 'vercel', id: 'p1', tag: 'dep_1', state: 'live', fingerprint: 'f' },
        { host: 'vercel', id: 'p2', tag: 'dep_2', state: 'cancelled', fingerprint: 'f' },
        { host: 'netlify', id: 'p3', tag: 'dep_3', state: 'live', fingerprint: 'f' },
      ],
    },
  };
}

const breakages: { what: string; rule: keyof typeof deploymentRules; words: RegExp; breakIt(run: Run): void }[] = [
  {
    what: 'two from one command',
    rule: 'deployed',
    words: /ws_1 has 2 deployments/,
    breakIt: ({ kept }) => {
      kept.deployments.push({ ...kept.deployments[1]!, id: 'dep_4', workspace: 'ws_1', code: 'quota' });
      kept.events.push({ deployment: 'dep_4', type: 'deployment.failed' });
    },
  },
  {
    what: 'other files',
    rule: 'deployed',
    words: /other files than its workspace/,
    breakIt: ({ operations }) => void (operations[0]!.value = 'g'),
  },
  {
    what: 'a cancellation without effect',
    rule: 'cancelledDeployments',
    words: /but it is quota/,
    breakIt: ({ kept }) => void (kept.deployments[1]!.code = 'quota'),
  },
  {
    what: 'an effect that is left',
    rule: 'deploymentsEnd',
    words: /under way/,
    breakIt: ({ kept }) => void (kept.deployments[0]!.isUnderWay = true),
  },
  {
    what: 'a defect',
    rule: 'deploymentsEnd',
    words: /unexpectedly/,
    breakIt: ({ kept }) => void (kept.deployments[1]!.message = 'It failed unexpectedly'),
  },
  {
    what: 'an event that came twice',
    rule: 'deploymentEvents',
    words: /building, deploying, live, live/,
    breakIt: ({ kept }) => void kept.events.push({ deployment: 'dep_1', type: 'deployment.live' }),
  },
  {
    what: 'a node that shows something else',
    rule: 'deploymentsShown',
    words: /node-1 shows dep_1/,
    breakIt: ({ kept }) => void (kept.views[0]!.status = 'deploying'),
  },
  {
    what: 'a second one at the host',
    rule: 'onceAtHost',
    words: /2 times: p1, p4/,
    breakIt: ({ kept }) => void kept.atHosts.push({ ...kept.atHosts[0]!, id: 'p4' }),
  },
  {
    what: 'one that was left under way at the host',
    rule: 'onceAtHost',
    words: /p2 is under way at vercel/,
    breakIt: ({ kept }) => void (kept.atHosts[1]!.state = 'working'),
  },
  {
    what: 'other files at the host',
    rule: 'published',
    words: /other files at netlify/,
    breakIt: ({ kept }) => void (kept.atHosts[2]!.fingerprint = 'g'),
  },
  {
    what: 'one that its host does not have',
    rule: 'published',
    words: /does not have/,
    breakIt: ({ kept }) => void kept.atHosts.shift(),
  },
];

test('a correct run of deployments breaks no rule', () => {
  const { operations, kept } = goodRun();
  assert.deepEqual(checkDeployments(operations, kept), []);
});

for (const { what, rule, words, breakIt } of breakages)
  test(`${what}: ${deploymentRules[rule]}`, () => {
    const run = goodRun();
    breakIt(run);
    const violations = checkDeployments(run.operations, run.kept);
    assert.deepEqual([...new Set(violations.map((one) => one.rule))], [deploymentRules[rule]]);
    assert.match(violations[0]!.words, words);
  });
