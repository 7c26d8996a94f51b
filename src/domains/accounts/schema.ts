/** The tables of accounts. */
import type { Schema } from '../../storage/schema.ts';
import { Account, AccountOverride, AgentUsage } from './account/entity.ts';
import { Invoice } from './account/invoice-entity.ts';
import { AccountSettings } from './account-settings/entity.ts';
import { AccountStorage } from './account-storage/entity.ts';
import { PriceCollars } from './migrations/0038-price-collars.ts';

export const accountsSchema: Schema = {
  entities: [Account, AccountOverride, AgentUsage, Invoice, AccountSettings, AccountStorage],
  migrations: [PriceCollars],
};
