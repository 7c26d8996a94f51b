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
  shownName,
} from '../../../../src/domains/integrations/mcp-servers/pins.ts';
import { type NamesInUse, toolNameOf } from '../../../../src/domains/integrations/mcp-servers/tool-names.ts';

const found = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  description: fc.constantFrom('', 'one', 'two'),
  inputSchema: fc.constantFrom<Record<string, unknown>>({ type: 'object' }, { type: 'object', properties: { x: { type: 'string' } } }),
  outputSchema: fc.constant(null),
  readOnly: fc.boolean(),
}) as fc.Arbitrary<FoundTool>;
const server = { name: 'docs' };
const list = fc.uniqueArray(found, { selector: ({ name }) => name });
const step = fc.oneof(
  fc.record({ kind: fc.constant('listed' as const), tools: list }),
  fc.record({ kind: fc.constant('approve' as const), names: fc.subarray(['a', 'b', 'c']) }),
);

test('P1 and P2: a tool is approved only in the version that a person saw, and never needs less approval than that version', () => {
  fc.assert(
    fc.property(list, fc.array(step, { maxLength: 12 }), (first, steps) => {
      let tools: PinnedTool[] = firstPins(first, server);
      const seen = new Map(first.map((tool) => [tool.name, { hash: hashOf(tool), readOnly: tool.readOnly }]));
      for (const one of steps) {
        if (one.kind === 'listed') tools = merge(tools, one.tools, server).tools;
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
  const tools = firstPins([{ name: 'a', description: '', inputSchema: {}, outputSchema: null, readOnly: false }], server);
  assert.equal(approve(tools, [{ name: 'a', hash: 'of before' }]), null);
  assert.equal(approve(tools, [{ name: 'b', hash: tools[0]!.hash }]), null);
});

test('the changes of a list are reported once', () => {
  const tool = (name: string, description = '') => ({ name, description, inputSchema: {}, outputSchema: null, readOnly: false });
  const before = firstPins([tool('a'), tool('b')], server);
  const next = merge(before, [tool('a', 'other'), tool('c')], server);
  assert.deepEqual(next.changes, { changed: ['a'], added: ['c'], removed: ['b'] });
  assert.deepEqual(
    next.tools.map((one) => [one.name, pinStatus(one)]),
    [
      ['a', 'changed'],
      ['c', 'new'],
      ['b', 'removed'],
    ],
  );
  assert.deepEqual(merge(next.tools, [tool('a', 'other'), tool('c')], server).changes, { changed: [], added: [], removed: [] });
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

const colliding = fc.constantFrom('b_c', 'c', 'b.c', 'a_b_c', 'b_c_1');
const lists = fc.array(
  fc.record({ server: fc.constantFrom('a', 'a_b', 'a_a'), tools: fc.uniqueArray(colliding, { minLength: 1, maxLength: 4 }) }),
  { minLength: 1, maxLength: 12 },
);

test('P3: tools of all servers of an account have different names, which stay', () => {
  fc.assert(
    fc.property(lists, (steps) => {
      const pins = new Map<string, PinnedTool[]>();
      const order: string[] = [];
      const names = (server: string) => (pins.get(server) ?? []).map((tool) => shownName(server, tool));
      for (const { server, tools } of steps) {
        if (!order.includes(server)) order.push(server);
        const before = new Map((pins.get(server) ?? []).map((tool) => [tool.name, tool.toolName]));
        const others = order.filter((name) => name !== server);
        const namesInUse: NamesInUse = {
          all: others.flatMap(names),
          older: others.filter((name) => order.indexOf(name) < order.indexOf(server)).flatMap(names),
        };
        const listed = tools.map((name) => ({ name, description: '', inputSchema: {}, outputSchema: null, readOnly: false }));
        const first = !pins.has(server);
        pins.set(
          server,
          first ? firstPins(listed, { name: server, namesInUse }) : merge(pins.get(server)!, listed, { name: server, namesInUse }).tools,
        );
        for (const tool of pins.get(server)!) if (before.has(tool.name)) assert.equal(tool.toolName, before.get(tool.name));
        const all = order.flatMap(names);
        assert.equal(new Set(all).size, all.length);
      }
    }),
  );
});

test('of two servers that chose the same name at the same moment, the later one changes it with its next list', () => {
  const tool = (name: string) => ({ name, description: '', inputSchema: {}, outputSchema: null, readOnly: false });
  const older = firstPins([tool('b_c')], { name: 'a' });
  const later = firstPins([tool('c')], { name: 'a_b' });
  assert.equal(shownName('a', older[0]!), shownName('a_b', later[0]!));
  const taken = ['mcp_a_b_c'];
  const mended = merge(later, [tool('c')], { name: 'a_b', namesInUse: { all: taken, older: taken } });
  assert.match(mended.tools[0]!.toolName!, /^mcp_a_b_c_[0-9a-f]{8}$/);
  assert.equal(pinStatus(mended.tools[0]!), 'approved');
  const same = merge(older, [tool('b_c')], { name: 'a', namesInUse: { all: taken, older: [] } });
  assert.equal(same.tools[0]!.toolName, 'mcp_a_b_c');
});

test('a name that an earlier version dropped is chosen again by the next list, while the server that had the other name is connected', () => {
  const tool = (name: string) => ({ name, description: '', inputSchema: {}, outputSchema: null, readOnly: false });
  const inUse = { all: ['mcp_a_b_c'], older: ['mcp_a_b_c'] };
  const pinned = firstPins([tool('c')], { name: 'a_b', namesInUse: inUse });
  const byEarlierVersion = pinned.map(({ toolName: _dropped, ...rest }) => rest);
  assert.deepEqual(merge(byEarlierVersion, [tool('c')], { name: 'a_b', namesInUse: inUse }).tools, pinned);
});
