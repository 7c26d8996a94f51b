/** The tables of all domains, found by their folders: without the rest of the domains, which takes long to load. */
import { joinSchemas, type Schema } from '../../src/storage/schema.ts';
import { sourceExports } from './source-exports.ts';

export const productSchema = joinSchemas((await sourceExports<Schema>(['src/domains/*/schema.ts'])).flat());
/** The same with further entities of a test. */
export const productSchemaWith = (entities: Schema['entities']): Schema => joinSchemas([productSchema, { entities }]);
