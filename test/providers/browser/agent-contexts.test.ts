/** Which contexts are kept, with a fake browser that counts them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Browser } from 'playwright-core';
import { AgentContexts } from '../../../src/providers/browser/driver/agent-contexts.ts';
import { onThisMachine } from '../../../src/providers/browser/driver/connect-chromium.ts';

type Context = { number: number; isClosed: boolean };

function countingBrowser() {
  const contexts: Context[] = [];
  const browser = {
    version: () => '156.0.0.0',
    async newContext() {
      const context = { number: contexts.length, isClosed: false };
      contexts.push(context);
      return Object.assign(context, { addInitScript: async () => {}, close: async () => void (context.isClosed = true) });
    },
  };
  return { browser: browser as unknown as Browser, contexts };
}
const connector = { connect: () => Promise.reject(new Error('not used')) };

test('an agent has one context, its pages use it one after the other, and no more than 16 are kept', async () => {
  const agent = fc.integer({ min: 0, max: 24 }).map((n) => `agnt_${n}`);
  // In groups that run at the same time, as many as pages may be open.
  const groups = fc.array(fc.array(fc.record({ agent, drops: fc.boolean() }), { minLength: 1, maxLength: 4 }), { maxLength: 15 });
  await fc.assert(
    fc.asyncProperty(groups, async (all) => {
      const { browser, contexts } = countingBrowser();
      const kept = new AgentContexts(browser, connector, onThisMachine, () => assert.fail('none is stuck'));
      const busy = new Set<string>();
      const owners = new Map<unknown, string>();
      for (const group of all) {
        await Promise.all(
          group.map(({ agent: id, drops }) =>
            kept.use(id, async ({ context }) => {
              assert.ok(!busy.has(id), 'two pages of one agent');
              busy.add(id);
              assert.equal((context as unknown as Context).isClosed, false);
              assert.equal(owners.get(context) ?? id, id, 'a context of another agent');
              owners.set(context, id);
              await new Promise(setImmediate);
              assert.equal((context as unknown as Context).isClosed, false);
              // As after a page that does not close.
              if (drops) await kept.drop(id);
              busy.delete(id);
            }),
          ),
        );
        assert.ok(contexts.filter(({ isClosed }) => !isClosed).length <= 16);
      }
      await Promise.all(Array.from({ length: 25 }, (_, n) => kept.drop(`agnt_${n}`)));
      assert.ok(contexts.every(({ isClosed }) => isClosed));
    }),
    { numRuns: 25, examples: [[Array.from({ length: 25 }, (_, n) => [{ agent: `agnt_${n}`, drops: false }])]] },
  );
});

test('a context that cannot be opened is reported, and the next page tries again', async () => {
  const { browser } = countingBrowser();
  const open = browser.newContext;
  Object.assign(browser, { newContext: () => Promise.reject(new Error('no room')) });
  const kept = new AgentContexts(browser, connector, onThisMachine, () => {});
  await assert.rejects(
    kept.use('agnt_1', async () => {}),
    /no room/,
  );
  Object.assign(browser, { newContext: open });
  assert.equal(await kept.use('agnt_1', async () => 'read'), 'read');
  await kept.drop('agnt_1');
});
