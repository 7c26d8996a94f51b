/** The tables of integrations. */
import type { Schema } from '../../storage/schema.ts';
import { Authorization } from './authorization/entity.ts';
import { Integration } from './integration/entity.ts';
import { Integrations } from './migrations/0039-integrations.ts';
import { ReceivedMessageEntry } from './whatsapp/entity.ts';

export const integrationsSchema: Schema = { entities: [Integration, Authorization, ReceivedMessageEntry], migrations: [Integrations] };
