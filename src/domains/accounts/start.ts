/** Accounts on a node: their actors, their settings, and operators' overrides. */
import type { Platform, StartedDomain } from '../domain.ts';
import { accountActor } from './account/account.ts';
import { accountEffects } from './account/effects.ts';
import { OverrideWatch } from './account/override-watch.ts';
import { accountSettingsActor } from './account-settings/account-settings.ts';
import { accountStorageActor } from './account-storage/account-storage.ts';
import { storageEffects } from './account-storage/count.ts';
import { settingsRoutes } from './routes/settings.ts';

export function startAccounts({ actors, database, placement, log }: Platform): StartedDomain {
  const overrideWatch = new OverrideWatch({ database, actors, placement, log });
  return {
    actors: [accountActor(accountEffects({ database })), accountSettingsActor, accountStorageActor(storageEffects({ database }))],
    routes: settingsRoutes({ actors }),
    begin: () => overrideWatch.start(),
    stop: () => overrideWatch.stop(),
  };
}
