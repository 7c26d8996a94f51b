/** Prompts, schemas and tables for which a naive program computes for seconds or endlessly. */

const blanks = ' '.repeat(31_000);

export const hostilePrompts: readonly string[] = [
  `- ${blanks}x`,
  `-${' \n'.repeat(15_000)}x`,
  `${'a.'.repeat(15_000)}!`,
  `${'1'.repeat(31_000)}@`,
  `${'\n max_agents: 1'.repeat(2_000)}`,
  `\`\`\`json${'\n '.repeat(15_000)}x`,
  `subject${blanks}`,
  `e-mail ${'a@b.c, '.repeat(4_000)}`,
  `with${' A'.repeat(15_000)}`,
];

/** A pattern that backtracks without end on what almost fits it. */
export const trapSchema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } }, required: ['a'] };
const branching = {
  properties: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { $ref: '#' }])),
  required: ['a', 'b', 'c', 'd'],
};
const nested = { items: { items: { items: { minItems: 100 }, minItems: 100 }, minItems: 100 }, minItems: 100, type: 'array' };
export const hostileSchemas: readonly object[] = [trapSchema, branching, nested];

export const hostileTables: Readonly<Record<string, string>> = {
  'same.csv': `${'a,'.repeat(32 * 1024)}a\n1,2\n`,
  'quotes.csv': '"'.repeat(200_000),
  'wide.csv': `${','.repeat(300_000)}\n`,
};
