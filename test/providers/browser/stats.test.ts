import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolError } from '../../../src/errors.ts';
import { crashedPage } from '../../../src/providers/browser/protocol.ts';
import { BrowserStats } from '../../../src/providers/browser/stats.ts';

test('a page is counted as done, crashed or failed; a page of a stopped agent is not counted', async () => {
  const stats = new BrowserStats();
  await stats.watched(Promise.resolve('read'));
  for (const error of [new ToolError(crashedPage), new ToolError('It took too long'), new Error('aborted')])
    await assert.rejects(stats.watched(Promise.reject(error)), error);
  const counts = stats.pages.read().map(({ labels, value }) => [labels!.outcome, value]);
  assert.deepEqual(counts, [
    ['done', 1],
    ['failed', 1],
    ['crashed', 1],
  ]);
});
