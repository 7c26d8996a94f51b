/** Tables as the commit path and the row loader see them, derived from MikroORM's own metadata so that nothing is described twice. */
import type { EntityMetadata } from '@mikro-orm/core';

/** How a column travels: as an element of a PostgreSQL array literal, or, for JSON, of a string split at a control character. */
type Codec = 'plain' | 'text' | 'json' | 'time';
export type Column = { property: string; name: string; type: string; codec: Codec };
export type Table = {
  name: string;
  columns: Column[];
  primaryKey: Column[];
  /** `insert … select … from unnest(…) on conflict do update` for any number of rows; `first` numbers its first parameter. */
  upsert(first: number, guard: string): string;
  /** One parameter a column, for these rows. */
  parameters(rows: readonly object[]): string[];
};
export type Row = Record<string, unknown>;

export function tableOf(metadata: EntityMetadata): Table {
  const columns = metadata.props.map((prop): Column => {
    const type = prop.columnTypes[0]!;
    const base = type.replace(/\(.*\)/, '');
    const codec = base === 'json' ? 'json' : base === 'timestamptz' ? 'time' : base === 'text' ? 'text' : 'plain';
    return { property: prop.name, name: prop.fieldNames[0]!, type, codec };
  });
  const primaryKey = columns.filter((column) => metadata.primaryKeys.includes(column.property as never));
  const updated = columns.filter((column) => !primaryKey.includes(column));
  const names = (list: Column[]) => list.map((column) => column.name).join(', ');
  const onConflict =
    updated.length === 0
      ? 'do nothing'
      : `(${names(primaryKey)}) do update set ${updated.map((column) => `${column.name} = excluded.${column.name}`).join(', ')}`;
  return {
    name: metadata.tableName,
    columns,
    primaryKey,
    upsert(first, guard) {
      const arrays = columns.map((column, i) => arrayExpression(column, first + i)).join(', ');
      const values = columns
        .map((column) => (column.codec === 'time' ? `to_timestamp(u.${column.name} / 1000)` : `u.${column.name}`))
        .join(', ');
      return `insert into ${metadata.tableName} (${names(columns)}) select ${values} from ${guard}, unnest(${arrays}) u(${names(columns)}) on conflict ${onConflict}`;
    },
    parameters: (rows) => columns.map((column) => encodeArray(column.codec, rows, column.property)),
  };
}

/** The SQL of one array parameter, e.g. `$3::text[]`. */
export function arrayExpression(column: Pick<Column, 'codec' | 'type'>, index: number): string {
  if (column.codec === 'json') return `string_to_array($${index}, E'\\x1e', E'\\x1d')::json[]`;
  return `$${index}::${column.codec === 'time' ? 'float8' : column.type}[]`;
}

/** JSON escapes control characters, so these two never stand inside an element: no quoting is needed, which is most of the cost. */
const jsonSeparator = '\x1e';
const jsonNull = '\x1d';

export function encodeArray(codec: Codec, rows: readonly object[], property: string): string {
  if (codec === 'json') {
    let text = '';
    for (let i = 0; i < rows.length; i++) {
      const value = (rows[i] as Row)[property];
      text += (i === 0 ? '' : jsonSeparator) + (value === null || value === undefined ? jsonNull : encodeJson(value));
    }
    return text;
  }
  let text = '{';
  for (let i = 0; i < rows.length; i++) {
    const value = (rows[i] as Row)[property];
    if (i > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else text += codec === 'text' ? quote(value as string) : String(value);
  }
  return `${text}}`;
}

/** JSON that was already written, so that an event is serialised once for the database and for every subscriber. */
export class RawJson {
  readonly text: string;
  constructor(value: unknown) {
    this.text = JSON.stringify(value) ?? 'null';
  }
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

function encodeJson(value: unknown): string {
  return value instanceof RawJson ? value.text : JSON.stringify(value);
}

const special = /["\\\0]/;
function quote(text: string): string {
  if (!special.test(text)) return `"${text}"`;
  // PostgreSQL's text cannot hold NUL; the replacement character says that something stood there.
  return `"${text.replace(/["\\]/g, '\\$&').replaceAll('\0', '\ufffd')}"`;
}
