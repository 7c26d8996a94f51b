/** The database schema of a part of the product: its entities, and the migrations that create their tables. */
import type { EntitySchema } from '@mikro-orm/core';
import type { Migration } from '@mikro-orm/migrations';

export type MigrationClass = new (...args: ConstructorParameters<typeof Migration>) => Migration;
export type Schema = {
  entities: readonly EntitySchema<any>[];
  /** Each `name` begins with a four-digit number that is unique in the whole product: migrations run in the order of their names. */
  migrations?: readonly MigrationClass[];
};

export function joinSchemas(schemas: readonly Schema[]): Required<Schema> {
  return {
    entities: schemas.flatMap(({ entities }) => entities),
    migrations: schemas.flatMap(({ migrations = [] }) => migrations),
  };
}
