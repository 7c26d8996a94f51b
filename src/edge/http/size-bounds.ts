/**
 * Checks the lengths of lists and texts before validation. The validator looks at every item of a list before it reports that the list is
 * too long, and notes each error; a caller's list must not decide how long that takes.
 */
import type { Issue } from '../../errors.ts';
import { plural } from './issues.ts';

/** Lists and texts that are only slightly too long are left to the validator, which then reports all errors of the body. */
const someItems = 100;
const someChars = 10_000;

type Schema = {
  maxItems?: number;
  maxLength?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  allOf?: Schema[];
};

/** The first parts that are much longer than `schema` allows; lists that are too long are not searched. */
export function sizeIssues(schema: unknown, value: unknown, maxIssues: number): Issue[] {
  const issues: Issue[] = [];
  measure(schema as Schema, value, ['body'], issues, maxIssues);
  return issues;
}

function measure(schema: Schema, value: unknown, loc: string[], issues: Issue[], maxIssues: number): void {
  if (issues.length >= maxIssues) return;
  if (typeof value === 'string') {
    const { maxLength } = schema;
    // A schema counts code points; each has one or two UTF-16 units.
    if (maxLength !== undefined && value.length > maxLength * 2 + someChars)
      issues.push(issue(loc, 'string_too_long', `String should have at most ${maxLength} ${plural(maxLength)}`, maxLength));
  } else if (Array.isArray(value)) {
    const { maxItems, items } = schema;
    if (maxItems !== undefined && value.length > maxItems + someItems)
      issues.push(issue(loc, 'too_long', `List should have at most ${maxItems} items`, maxItems));
    else if (items !== undefined)
      for (let i = 0; i < value.length && issues.length < maxIssues; i++) measure(items, value[i], [...loc, String(i)], issues, maxIssues);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(schema.properties ?? {}))
      if (Object.hasOwn(value, name)) measure(part, (value as Record<string, unknown>)[name], [...loc, name], issues, maxIssues);
  }
  for (const part of schema.allOf ?? []) measure(part, value, loc, issues, maxIssues);
  if (schema.anyOf !== undefined) measureBranches(schema.anyOf, value, loc, issues, maxIssues);
}

/** Too long only if it is too long for every branch. */
function measureBranches(branches: Schema[], value: unknown, loc: string[], issues: Issue[], maxIssues: number): void {
  let shortestIssues: Issue[] | null = null;
  for (const branch of branches) {
    const found: Issue[] = [];
    measure(branch, value, loc, found, maxIssues);
    if (takes(branch, value) && (shortestIssues === null || found.length < shortestIssues.length)) shortestIssues = found;
  }
  issues.push(...(shortestIssues ?? []));
}

function takes(branch: Schema & { type?: string }, value: unknown): boolean {
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return branch.type === undefined || branch.type === type;
}

function issue(loc: string[], type: string, msg: string, max: number): Issue {
  return { loc, msg, type, input: null, ctx: { max_length: max } };
}
