/** The tables of trading. */
import type { Schema } from '../../storage/schema.ts';

export const tradingSchema: Schema = { entities: [], migrations: [] };
