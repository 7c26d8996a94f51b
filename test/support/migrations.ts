/** Every migration with its SQL. */
import { readdirSync } from 'node:fs';

export type LoadedMigration = { name: string; statements: string[] };

export async function allMigrations(): Promise<LoadedMigration[]> {
  const folder = new URL('../../src/storage/migrations/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  return Promise.all(
    files.sort().map(async (file) => {
      const [Class] = Object.values(await import(new URL(file, folder).href)) as [new (...args: unknown[]) => any];
      const migration = new Class({}, {});
      await migration.up();
      return { name: migration.name, statements: migration.getQueries().map(String) };
    }),
  );
}
