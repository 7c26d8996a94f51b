/** What a part of the product keeps in the database: the entities of its tables, and the migrations that make them. */
import type { EntitySchema } from '@mikro-orm/core';
import type { Migration } from '@mikro-orm/migrations';

export type MigrationClass = new (...args: ConstructorParameters<typeof Migration>) => Migration;
export type Schema = {
  entities: readonly EntitySchema<any>[];
  /** Each has a `name` that begins with a number of four digits, which no other of the whole product has: they run in the order of their names. */
  migrations?: readonly MigrationClass[];
};

export function joinSchemas(schemas: readonly Schema[]): Required<Schema> {
  return {
    entities: schemas.flatMap(({ entities }) => entities),
    migrations: schemas.flatMap(({ migrations = [] }) => migrations),
  };
}
