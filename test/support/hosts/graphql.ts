/**
 * The part of GraphQL that a stand-in needs: parses an operation, validates it with a schema, and answers it from a tree of values
 * and functions.
 */
type Selection = { name: string; args: Record<string, unknown>; fields: Selection[] };
type Operation = { kind: 'query' | 'mutation'; variables: Record<string, string>; fields: Selection[] };

/** By type and field: the type of the field, then of its arguments, as the schema language writes them. */
export type Schema = Readonly<Record<string, Readonly<Record<string, Described>>>>;
type Described = string | readonly [string, Readonly<Record<string, string>>];
export type Resolver = (args: Record<string, unknown>) => unknown;

export class GraphqlError extends Error {}

class Variable {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export function execute(schema: Schema, roots: Record<Operation['kind'], unknown>, text: string, given: Record<string, unknown>): unknown {
  const { kind, variables, fields } = read(text);
  const root = kind === 'query' ? 'RootQuery' : 'RootMutation';
  check(schema, root, fields, variables);
  for (const [name, type] of Object.entries(variables)) {
    if (type.endsWith('!') && (given[name] === undefined || given[name] === null))
      throw new GraphqlError(`Variable "$${name}" of type "${type}" is missing`);
  }
  for (const name of Object.keys(given)) if (!(name in variables)) throw new GraphqlError(`Variable "$${name}" is not defined`);
  return answer(roots[kind], fields, given);
}

function check(schema: Schema, type: string, fields: readonly Selection[], variables: Record<string, string>): void {
  const known = schema[type];
  if (known === undefined) throw new GraphqlError(`Type "${type}" has no fields`);
  for (const { name, args, fields: inner } of fields) {
    const described: Described | undefined = known[name];
    const [returns, takes]: readonly [string | undefined, Readonly<Record<string, string>>] =
      described === undefined || typeof described === 'string' ? [described, {}] : described;
    if (returns === undefined) throw new GraphqlError(`Cannot query field "${name}" on type "${type}"`);
    for (const [arg, value] of Object.entries(args)) {
      const wanted = takes[arg];
      if (wanted === undefined) throw new GraphqlError(`Unknown argument "${arg}" on field "${type}.${name}"`);
      const found = value instanceof Variable ? variables[value.name] : undefined;
      if (value instanceof Variable && !fits(found ?? '', wanted))
        throw new GraphqlError(`Variable "$${value.name}" of type "${found}" is used where "${wanted}" is expected`);
    }
    for (const [arg, wanted] of Object.entries(takes))
      if (wanted.endsWith('!') && !(arg in args)) throw new GraphqlError(`Field "${name}" needs the argument "${arg}"`);
    const named = returns.replace(/[[\]!]/g, '');
    if (schema[named] === undefined && inner.length > 0) throw new GraphqlError(`Field "${name}" has no fields of its own`);
    if (schema[named] !== undefined && inner.length === 0)
      throw new GraphqlError(`Field "${name}" of type "${returns}" needs a selection of fields`);
    if (inner.length > 0) check(schema, named, inner, variables);
  }
}

/** A variable may be stricter than what it is used for. */
function fits(found: string, wanted: string): boolean {
  const isAsStrict = (part: string) => !wanted.includes(part) || found.includes(part);
  return found.replaceAll('!', '') === wanted.replaceAll('!', '') && isAsStrict('!]') && (!wanted.endsWith('!') || found.endsWith('!'));
}

function answer(source: unknown, fields: readonly Selection[], given: Record<string, unknown>): unknown {
  if (source === null || source === undefined) return null;
  if (Array.isArray(source)) return source.map((one) => answer(one, fields, given));
  if (fields.length === 0) return source;
  return Object.fromEntries(
    fields.map(({ name, args, fields: inner }) => {
      const value = (source as Record<string, unknown>)[name];
      const bound = Object.fromEntries(Object.entries(args).map(([arg, one]) => [arg, one instanceof Variable ? given[one.name] : one]));
      return [name, answer(typeof value === 'function' ? (value as Resolver)(bound) : value, inner, given)];
    }),
  );
}

function read(text: string): Operation {
  const tokens = text.match(/[A-Za-z_]\w*|\$\w+|-?\d+|"[^"\\]*"|[{}()[\]:!=]/g) ?? [];
  let at = 0;
  const take = (expected?: string) => {
    const token = tokens[at];
    if (token === undefined || (expected !== undefined && token !== expected))
      throw new GraphqlError(`Syntax Error: Unexpected "${token}"`);
    at += 1;
    return token;
  };
  const between = <T>(begin: string, end: string, one: () => T): T[] => {
    const all: T[] = [];
    if (tokens[at] !== begin) return all;
    take();
    while (tokens[at] !== end) all.push(one());
    take(end);
    return all;
  };
  const pair = <T>(value: () => T): [string, T] => {
    const name = take().replace('$', '');
    take(':');
    return [name, value()];
  };
  const type = (): string => {
    let name = take();
    if (name === '[') {
      name = `[${type()}]`;
      take(']');
    }
    return tokens[at] === '!' ? name + take('!') : name;
  };
  const value = () => {
    const token = take();
    return token.startsWith('$') ? new Variable(token.slice(1)) : (JSON.parse(token) as unknown);
  };
  const selection = (): Selection => {
    const name = take();
    const args = Object.fromEntries(between('(', ')', () => pair(value)));
    const fields = between('{', '}', selection);
    return { name, args, fields };
  };
  const kind = take();
  if (kind !== 'query' && kind !== 'mutation') throw new GraphqlError(`Syntax Error: Unexpected "${kind}"`);
  if (tokens[at] !== '{' && tokens[at] !== '(') take();
  const variables = Object.fromEntries(between('(', ')', () => pair(type)));
  const fields = between('{', '}', selection);
  if (at < tokens.length) throw new GraphqlError(`Syntax Error: Unexpected "${tokens[at]}"`);
  return { kind, variables, fields };
}
