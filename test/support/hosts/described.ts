/** Excerpts of vendors' descriptions of their APIs, with their source, and the check of requests and answers against them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Json } from '../json.ts';

/** `values`: of an object whose keys are free. */
export type Field = { kinds: string[]; enum?: string[]; required?: true; fields?: Fields; items?: Field; values?: Field };
export type Fields = Record<string, Field>;
export type Operation = { query?: Fields; body?: Field; answer: Field };

export function readDescription(name: string): Record<string, Operation> {
  return JSON.parse(readFileSync(new URL(`vendor/${name}.json`, import.meta.url), 'utf8')).operations;
}

export function assertField(field: Field, value: unknown, at: string): void {
  const { kinds, enum: listed, fields, items, values } = field;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  assert.ok(kinds.includes(kind) || kinds.includes('any'), `${at} is ${kind}, not ${kinds.join(' or ')}`);
  if (kind === 'string' && listed !== undefined) assert.ok(listed.includes(value as string), `${at} is ${value}`);
  if (fields !== undefined && kind === 'object') assertFields(fields, value as Json, at);
  if (items !== undefined && kind === 'array') for (const item of value as Json[]) assertField(items, item, at);
  if (values !== undefined && kind === 'object') for (const inner of Object.values(value as Json)) assertField(values, inner, at);
}

function assertFields(fields: Fields, value: Json, at: string): void {
  for (const [key, field] of Object.entries(fields)) assert.ok(!field.required || Object.hasOwn(value, key), `${at} lacks ${key}`);
  for (const [key, inner] of Object.entries(value)) {
    const field = fields[key];
    assert.ok(field !== undefined, `${at} has no ${key}`);
    assertField(field, inner, `${at}, ${key}`);
  }
}
