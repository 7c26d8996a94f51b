/** Every migration with its SQL. */
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import type { Migration } from '@mikro-orm/migrations';

/** A migration only collects its SQL: nothing of a database is asked. */
type MigrationClass = new (driver: never, config: never) => Migration & { name: string };
export type LoadedMigration = { name: string; statements: string[] };

export async function allMigrations(): Promise<LoadedMigration[]> {
  const root = new URL('../../', import.meta.url);
  const files = globSync(['src/storage/migrations/[0-9]*.ts', 'src/domains/*/migrations/*.ts'], { cwd: root });
  return Promise.all(
    files
      .toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1))
      .map(async (file) => {
        const [Class] = Object.values(await import(new URL(file, root).href)) as [MigrationClass];
        const migration = new Class({} as never, {} as never);
        await migration.up();
        return { name: migration.name, statements: migration.getQueries().map(String) };
      }),
  );
}
