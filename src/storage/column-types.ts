/** Column types for plain actor state: a time is a number of milliseconds in memory and `timestamptz` in the database. */
import { p, Type } from '@mikro-orm/core';

/** Milliseconds since 1970 in memory, `timestamptz` (millisecond precision) in PostgreSQL. */
export class EpochMs extends Type<number | null, string | null> {
  override convertToDatabaseValue(value: number | string | null): string | null {
    return typeof value === 'number' ? new Date(value).toISOString() : value;
  }
  override convertToJSValue(value: string | Date | number | null): number | null {
    return value === null || typeof value === 'number' ? value : new Date(value).getTime();
  }
  override getColumnType(): string {
    return 'timestamptz(3)';
  }
  override compareAsType(): string {
    return 'number';
  }
}

/** A point in time: milliseconds in the state. */
export const epochMs = () => p.type(EpochMs).$type<number>();

/** A JSON value in a `json` column, stored with unchanged text. */
export const json = <T>() => p.json().columnType('json').$type<T>();
