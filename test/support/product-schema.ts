/** The tables of all domains, found by their folders: without the rest of the domains, which takes long to load. */
import { globSync } from 'node:fs';
import { joinSchemas, type Schema } from '../../src/storage/schema.ts';

const root = new URL('../../', import.meta.url);
const files = globSync('src/domains/*/schema.ts', { cwd: root }).sort();
const loaded = await Promise.all(files.map(async (file): Promise<Schema[]> => Object.values(await import(new URL(file, root).href))));

export const productSchema = joinSchemas(loaded.flat());
/** The same with further entities of a test. */
export const productSchemaWith = (entities: Schema['entities']): Schema => joinSchemas([productSchema, { entities }]);
