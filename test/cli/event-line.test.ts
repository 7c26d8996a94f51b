/** Texts of events in the terminal. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventLine } from '../../src/cli/event-line.ts';
import { newProgress } from '../../src/cli/progress.ts';

test('events of a deployment are shown with its address or the reason of its failure, without control characters', () => {
  const described = (type: string, data: object) => {
    const { source, text, tone } = eventLine({ id: 'evt_1', seq: 1, type, created_at: '', data: { ...data } }, newProgress());
    return [source, text, tone];
  };
  const deployment = { target: 'netlify', url: 'https://shop.example', error: { code: 'auth', message: 'No\u001b[2J\nentry' } };
  assert.deepEqual(described('deployment.building', { deployment }), ['task', 'deployment at netlify started', 'plain']);
  assert.deepEqual(described('deployment.live', { deployment }), ['task', 'published: https://shop.example', 'good']);
  const [, failed, tone] = described('deployment.failed', { deployment });
  assert.match(failed!, /^deployment failed \(auth\): No[^\u001b\n]*entry$/);
  assert.equal(tone, 'bad');
  for (const data of [{}, { deployment: null }, { deployment: 'x' }, { deployment: { error: 5 } }])
    assert.doesNotThrow(() => described('deployment.failed', data));
});
