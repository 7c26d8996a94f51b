/**
 * Regular expressions of src take time that grows with their text and no faster. Found by static analysis (scslre): two parts of a pattern that can
 * share what they match, and patterns without an anchor whose every start reads on to the end, as in `/\s+$/`. What the analysis reports is rewritten
 * as a pattern whose parts differ, or as a scan by hand.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import test from 'node:test';
import { type AnyNode, parse } from 'acorn';
import { analyse } from 'scslre';

type Pattern = { where: string; source: string; flags: string };

/** Patterns that come from outside and are never run here. */
const notOurs = ['src/domains/tasks/agent/output-schema.ts'];

const emitWarning = process.emitWarning;
process.emitWarning = () => {};
const all = globSync('src/**/*.ts').sort().flatMap(patternsOf);
process.emitWarning = emitWarning;

test('no regular expression takes more than linear time', () => {
  assert.deepEqual(all.flatMap(problemsOf), []);
});

test('the analysis finds the slow patterns that it is there for', () => {
  const slow = ['^(a+)+$', '\\s+$', '^\\s*[-*]\\s+(.+?)\\s+x$', '(\\d+)\\.\\d+', '^```(?:json)?\\s*\\n([\\s\\S]*)\\n\\s*```$'];
  for (const source of slow) assert.notDeepEqual(problemsOf({ where: 'a.ts:1', source, flags: '' }), [], source);
  for (const source of ['^\\s+', '\\s+', '^[a-z]+@[^@]+$', '\\b\\d+px'])
    assert.deepEqual(problemsOf({ where: 'a.ts:1', source, flags: 'g' }), [], source);
  const built = patternsIn(
    'a.ts',
    "const digits = '\\\\d+'; new RegExp('(' + digits + ')x' + other, 'i'); Type.String({ pattern: '^a+$' }); /b/u;",
  );
  assert.deepEqual(
    built.map(({ source, flags }) => [source, flags]),
    [
      ['(\\d+)x_', 'i'],
      ['^a+$', 'u'],
      ['b', 'u'],
    ],
  );
});

function problemsOf({ where, source, flags }: Pattern): string[] {
  const { reports } = analyse(
    { source, flags },
    { assumeRejectingSuffix: false, reportTypes: { Move: !flags.includes('y'), Self: true, Trade: true } },
  );
  return reports.length === 0
    ? []
    : [`${where}: /${source}/${flags} is ${reports.some((report) => report.exponential) ? 'exponential' : 'polynomial'}`];
}

function patternsOf(path: string): Pattern[] {
  return notOurs.includes(path) ? [] : patternsIn(path, readFileSync(path, 'utf8'));
}

/** Literals, what is given to `RegExp`, and patterns of schemas. A part that is not known from the file alone is taken for one plain character. */
function patternsIn(path: string, text: string): Pattern[] {
  const program = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  const constants = new Map<string, AnyNode>();
  const found: Pattern[] = [];
  const textOf = (node: AnyNode | null | undefined, depth = 0): string => {
    if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : (node.regex?.pattern ?? '_');
    if (node?.type === 'TemplateLiteral')
      return node.quasis
        .map(({ value }, i) => (value.cooked ?? '') + (i < node.expressions.length ? textOf(node.expressions[i], depth) : ''))
        .join('');
    if (node?.type === 'TaggedTemplateExpression') return node.quasi.quasis.map(({ value }) => value.raw).join('_');
    if (node?.type === 'BinaryExpression' && node.operator === '+') return textOf(node.left as AnyNode, depth) + textOf(node.right, depth);
    if (node?.type === 'MemberExpression') return textOf(node.object as AnyNode, depth);
    const known = node?.type === 'Identifier' && depth < 10 ? constants.get(node.name) : undefined;
    return known === undefined ? '_' : textOf(known, depth + 1);
  };
  const isKnown = (node: AnyNode | null | undefined) => textOf(node) !== '_';
  walk(program, (node) => {
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init) constants.set(node.id.name, node.init);
  });
  walk(program, (node) => {
    const where = `${path}:${node.loc!.start.line}`;
    if (node.type === 'Literal' && node.regex) found.push({ where, source: node.regex.pattern, flags: node.regex.flags });
    const makes =
      (node.type === 'NewExpression' || node.type === 'CallExpression') &&
      node.callee.type === 'Identifier' &&
      node.callee.name === 'RegExp';
    if (makes) {
      const [source, flags] = node.arguments as AnyNode[];
      found.push({ where, source: textOf(source), flags: flags && isKnown(flags) ? textOf(flags) : '' });
    }
    const isPattern = node.type === 'Property' && node.key.type === 'Identifier' && node.key.name === 'pattern' && !node.shorthand;
    if (isPattern && isKnown(node.value)) found.push({ where, source: textOf(node.value), flags: 'u' });
  });
  return found.filter(({ source }, i) => found.findIndex((other) => other.where === found[i]!.where && other.source === source) === i);
}

function walk(node: unknown, visit: (node: AnyNode) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node) && typeof (node as AnyNode).type === 'string') visit(node as AnyNode);
  for (const part of Object.values(node)) walk(part, visit);
}
