/** Every migration with its SQL. */
import { globSync } from 'node:fs';
import { basename } from 'node:path';

export type LoadedMigration = { name: string; statements: string[] };

export async function allMigrations(): Promise<LoadedMigration[]> {
  const root = new URL('../../', import.meta.url);
  const files = globSync(['src/storage/migrations/[0-9]*.ts', 'src/domains/*/migrations/*.ts'], { cwd: root });
  return Promise.all(
    files
      .toSorted((a, b) => (basename(a) < basename(b) ? -1 : 1))
      .map(async (file) => {
        const [Class] = Object.values(await import(new URL(file, root).href)) as [new (...args: unknown[]) => any];
        const migration = new Class({}, {});
        await migration.up();
        return { name: migration.name, statements: migration.getQueries().map(String) };
      }),
  );
}
