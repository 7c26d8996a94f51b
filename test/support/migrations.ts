/** Every migration with its SQL. */
import type { Migration } from '@mikro-orm/migrations';
import { sourceExports } from './source-exports.ts';

/** A migration only collects its SQL: nothing of a database is asked. */
type MigrationClass = new (driver: never, config: never) => Migration & { name: string };
export type LoadedMigration = { name: string; statements: string[] };

export async function allMigrations(): Promise<LoadedMigration[]> {
  const files = await sourceExports<MigrationClass>(['src/storage/migrations/[0-9]*.ts', 'src/domains/*/migrations/*.ts']);
  const loaded = files.map(async ([Class]) => {
    const migration = new Class!({} as never, {} as never);
    await migration.up();
    return { name: migration.name, statements: migration.getQueries().map(String) };
  });
  return (await Promise.all(loaded)).sort((a, b) => (a.name < b.name ? -1 : 1));
}
