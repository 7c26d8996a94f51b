/** Tables for the commit path and the row loader, derived from MikroORM's metadata so that nothing is defined twice. */
import type { EntityMetadata } from '@mikro-orm/core';
import { AppError } from '../errors.ts';

/** How a column's values are sent: as elements of a PostgreSQL array literal, or, for JSON, of a string split at a control character. */
type Codec = 'plain' | 'text' | 'json' | 'time';
export type Column = { property: string; name: string; type: string; codec: Codec; nullable?: boolean };
export type Table = {
  name: string;
  columns: Column[];
  primaryKey: Column[];
  /**
   * `insert … select … from (select unnest(…), …) on conflict do update` for any number of rows; `first` numbers its first parameter. Rows of a
   * read-only entity are inserted only: as `insert`.
   */
  upsert(first: number, guard: string): string;
  /** As `upsert`, but an existing row is an error. */
  insert(first: number, guard: string): string;
  /** One parameter per column for these rows. Throws for a value that the column cannot store exactly. */
  parameters(rows: readonly object[]): string[];
};
export type Row = Record<string, unknown>;

const numberTypes =
  /^(smallint|int|int2|int4|int8|integer|bigint|serial|bigserial|real|float4|float8|double precision|numeric|decimal|bool|boolean)$/;

export function tableOf(metadata: EntityMetadata): Table {
  const columns = metadata.props.map((prop): Column => {
    const type = prop.columnTypes[0]!;
    return { property: prop.name, name: prop.fieldNames[0]!, type, codec: codecOf(type), nullable: prop.nullable === true };
  });
  const primaryKey = columns.filter((column) => metadata.primaryKeys.includes(column.property as never));
  const updated = columns.filter((column) => !primaryKey.includes(column));
  const names = (list: Column[]) => list.map((column) => column.name).join(', ');
  const onConflict =
    updated.length === 0
      ? 'do nothing'
      : `(${names(primaryKey)}) do update set ${updated.map((column) => `${column.name} = excluded.${column.name}`).join(', ')}`;
  const insert: Table['insert'] = (first, guard) => {
    const arrays = columns.map((column, i) => [column.name, arrayExpression(column, first + i)] as const);
    const values = columns
      .map((column) => (column.codec === 'time' ? `to_timestamp(u.${column.name} / 1000)` : `u.${column.name}`))
      .join(', ');
    return `insert into ${metadata.tableName} (${names(columns)}) select ${values} from (${selectUnnested(arrays)} from ${guard}) u`;
  };
  return {
    name: metadata.tableName,
    columns,
    primaryKey,
    insert,
    // Checking for a conflict costs a third of an insert.
    upsert: metadata.readonly ? insert : (first, guard) => `${insert(first, guard)} on conflict ${onConflict}`,
    parameters: (rows) => columns.map((column) => encodeArray(column, rows)),
  };
}

function codecOf(type: string): Codec {
  const base = withoutLength(type).trim().toLowerCase();
  if (base === 'json' || base === 'jsonb') return 'json';
  if (base === 'timestamptz') return 'time';
  return numberTypes.test(base) ? 'plain' : 'text';
}

/** `varchar(20)` as `varchar`. */
function withoutLength(type: string): string {
  const end = type.lastIndexOf(')');
  const start = type.indexOf('(');
  return start === -1 || end < start ? type : type.slice(0, start) + type.slice(end + 1);
}

/**
 * Selects rows from array expressions, one for each column name; shorter arrays are filled with nulls. `unnest` in the select list passes
 * each row on; in `from` it would store the values of each column first, which costs as much as half of the insert.
 */
export function selectUnnested(arrays: readonly (readonly [name: string, expression: string])[]): string {
  return `select ${arrays.map(([name, expression]) => `unnest(${expression}) as ${name}`).join(', ')}`;
}

/** The SQL of one array parameter, e.g. `$3::text[]`. */
export function arrayExpression(column: Pick<Column, 'codec' | 'type'>, index: number): string {
  if (column.codec === 'json') return `string_to_array($${index}, E'\\x1e', E'\\x1d')::${column.type}[]`;
  // Without its length: a cast to varchar(20) would silently truncate what the insert itself refuses.
  return `$${index}::${column.codec === 'time' ? 'float8' : withoutLength(column.type)}[]`;
}

/** JSON escapes control characters, so these two never occur in an element: no quoting is needed, which would be most of the cost. */
const jsonSeparator = '\x1e';
const jsonNull = '\x1d';

export function encodeArray(column: Pick<Column, 'codec' | 'property' | 'nullable'>, rows: readonly object[]): string {
  const { codec, property } = column;
  const length = lengthWithoutLastNulls(column, rows);
  // Joined at the end: adding to one text leaves a small object for each part.
  const parts: string[] = new Array(length);
  if (codec === 'json') {
    // A null in a not-null column is the JSON value null.
    const none = column.nullable === true ? jsonNull : 'null';
    for (let i = 0; i < length; i++) {
      const value = (rows[i] as Row)[property];
      parts[i] = value === null || value === undefined ? none : encodeJson(value);
    }
    return parts.join(jsonSeparator);
  }
  // Many columns have the same text in all rows of a batch.
  let last: unknown = null;
  let quoted = '';
  for (let i = 0; i < length; i++) {
    const value = (rows[i] as Row)[property];
    if (value === null || value === undefined) parts[i] = 'NULL';
    else if (typeof value === 'string') {
      if (value !== last) {
        last = value;
        quoted = quote(value);
      }
      parts[i] = quoted;
    } else if (typeof value === 'number' && !Number.isFinite(value)) throw unstorable(value, property);
    else parts[i] = codec === 'text' ? quote(String(value)) : String(value);
  }
  return `{${parts.join(',')}}`;
}

/** `selectUnnested` fills a shorter array with nulls, and many columns are null in all rows of a batch. */
function lengthWithoutLastNulls({ codec, property, nullable }: Pick<Column, 'codec' | 'property' | 'nullable'>, rows: readonly object[]) {
  let { length } = rows;
  // A null in a JSON column that is not nullable is a JSON value.
  if (codec === 'json' && nullable !== true) return length;
  while (length > 0 && ((rows[length - 1] as Row)[property] ?? null) === null) length--;
  return length;
}

/** JSON text that is already serialised, so that an event is serialised once for the database and all subscribers. */
export class RawJson {
  readonly text: string;
  constructor(value: unknown) {
    this.text = encodeJson(value ?? null);
  }
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Throws for values that JSON would silently turn into null (NaN, infinities) or cannot represent. */
export function encodeJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  const text = JSON.stringify(value);
  if (text === undefined) throw unstorable(value, typeof value);
  // Only then can a number have been lost; searching costs more than serialising.
  if (text.includes('null')) refuseLostNumbers(value);
  return text;
}

function refuseLostNumbers(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw unstorable(value, 'JSON');
  if (typeof value !== 'object' || value === null) return;
  // Keys one by one: a list of the values would be garbage at once.
  for (const key in value) {
    const part = (value as Row)[key];
    if (part !== null) refuseLostNumbers(part);
  }
}

function unstorable(value: unknown, where: string): AppError {
  return new AppError('internal', `${String(value)} cannot be stored (${where})`);
}

const special = /["\\\0]/;
function quote(text: string): string {
  if (!special.test(text)) return `"${text}"`;
  // PostgreSQL's text cannot contain NUL; the replacement character marks its place.
  return `"${text.replace(/["\\]/g, '\\$&').replaceAll('\0', '\ufffd')}"`;
}
