/** Which tools of an MCP server agents may use, for any lists of the server over time. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  approve,
  type FoundTool,
  firstPins,
  hashOf,
  isReadOnly,
  merge,
  type PinnedTool,
  pinStatus,
  toolNameOf,
} from '../../../../src/domains/integrations/mcp-servers/pins.ts';

const found = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  description: fc.constantFrom('', 'one', 'two'),
  inputSchema: fc.constantFrom<Record<string, unknown>>({ type: 'object' }, { type: 'object', properties: { x: { type: 'string' } } }),
  outputSchema: fc.constant(null),
  readOnly: fc.boolean(),
}) as fc.Arbitrary<FoundTool>;
const list = fc.uniqueArray(found, { selector: ({ name }) => name });
const step = fc.oneof(
  fc.record({ kind: fc.constant('listed' as const), tools: list }),
  fc.record({ kind: fc.constant('approve' as const), names: fc.subarray(['a', 'b', 'c']) }),
);

test('P1 and P2: a tool is approved only in the version that a person saw, and never needs less approval than that version', () => {
  fc.assert(
    fc.property(list, fc.array(step, { maxLength: 12 }), (first, steps) => {
      let tools: PinnedTool[] = firstPins(first);
      const seen = new Map(first.map((tool) => [tool.name, { hash: hashOf(tool), readOnly: tool.readOnly }]));
      for (const one of steps) {
        if (one.kind === 'listed') tools = merge(tools, one.tools).tools;
        else {
          const asked = tools.filter(({ name, listed }) => listed && one.names.includes(name)).map(({ name, hash }) => ({ name, hash }));
          tools = approve(tools, asked)!;
          for (const tool of tools) if (asked.some(({ name }) => name === tool.name)) seen.set(tool.name, tool);
        }
        for (const tool of tools.filter((each) => pinStatus(each) === 'approved')) {
          assert.equal(tool.hash, seen.get(tool.name)?.hash);
          assert.ok(!isReadOnly(tool) || seen.get(tool.name)!.readOnly);
        }
      }
    }),
  );
});

test('an outdated hash approves nothing', () => {
  const tools = firstPins([{ name: 'a', description: '', inputSchema: {}, outputSchema: null, readOnly: false }]);
  assert.equal(approve(tools, [{ name: 'a', hash: 'of before' }]), null);
  assert.equal(approve(tools, [{ name: 'b', hash: tools[0]!.hash }]), null);
});

test('the changes of a list are reported once', () => {
  const tool = (name: string, description = '') => ({ name, description, inputSchema: {}, outputSchema: null, readOnly: false });
  const before = firstPins([tool('a'), tool('b')]);
  const next = merge(before, [tool('a', 'other'), tool('c')]);
  assert.deepEqual(next.changes, { changed: ['a'], added: ['c'], removed: ['b'] });
  assert.deepEqual(
    next.tools.map((one) => [one.name, pinStatus(one)]),
    [
      ['a', 'changed'],
      ['c', 'new'],
      ['b', 'removed'],
    ],
  );
  assert.deepEqual(merge(next.tools, [tool('a', 'other'), tool('c')]).changes, { changed: [], added: [], removed: [] });
});

test('names of tools are different for different tools, and at most 64 characters that models take', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90 }), { minLength: 2, maxLength: 6 }), (names) => {
      const made = names.map((name) => toolNameOf('server', name));
      assert.equal(new Set(made).size, names.length);
      for (const name of made) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
    }),
  );
  assert.equal(toolNameOf('docs', 'search'), 'mcp_docs_search');
});
