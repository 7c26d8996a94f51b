/** The tables of integrations. */
import type { Schema } from '../../storage/schema.ts';

export const integrationsSchema: Schema = { entities: [] };
