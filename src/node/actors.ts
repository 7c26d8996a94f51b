/** Every kind of actor there is, with what it needs of the outside. */
import { accountActor } from '../actors/account/account.ts';
import { accountEffects } from '../actors/account/effects.ts';
import { accountSettingsActor } from '../actors/account-settings/account-settings.ts';
import { agentActor } from '../actors/agent/agent.ts';
import { agentEffects } from '../actors/agent/effects.ts';
import { apiKeyActor } from '../actors/api-key/api-key.ts';
import { canaryActor } from '../actors/canary/canary.ts';
import { cardActor } from '../actors/card/card.ts';
import { checkoutActor } from '../actors/checkout/checkout.ts';
import { checkoutEffects } from '../actors/checkout/effects.ts';
import { emailAddressActor } from '../actors/email-address/email-address.ts';
import { passwordResetActor } from '../actors/password-reset/password-reset.ts';
import { purchaseOrderActor } from '../actors/purchase-order/purchase-order.ts';
import { purseOf } from '../actors/purchase-order/purse.ts';
import { renewalEffects } from '../actors/renewal/effects.ts';
import { renewalActor } from '../actors/renewal/renewal.ts';
import type { Runtime } from '../actors/runtime/runtime.ts';
import { sessionActor } from '../actors/session/session.ts';
import { taskEffects } from '../actors/task/effects.ts';
import { taskActor } from '../actors/task/task.ts';
import { throttleActor } from '../actors/throttle/throttle.ts';
import { resetMail } from '../actors/user/resets.ts';
import { userActor } from '../actors/user/user.ts';
import { walletActor } from '../actors/wallet/wallet.ts';
import { workspaceActor } from '../actors/workspace/workspace.ts';
import { workspaceAccess } from '../actors/workspace-file/workspace-access.ts';
import { workspaceFileActor } from '../actors/workspace-file/workspace-file.ts';
import { workspaceNameActor } from '../actors/workspace-name/workspace-name.ts';
import type { Config } from '../config.ts';
import type { Tokens } from '../edge/auth/tokens.ts';
import type { Log } from '../log.ts';
import type { Providers } from './providers.ts';
import type { Stores } from './stores.ts';

export type ActorsOptions = {
  runtime: Runtime;
  stores: Stores;
  providers: Providers;
  tokens: Tokens;
  config: Pick<Config, 'publicUrl' | 'mailFrom'>;
  log: Log;
};

export function registerActors({ runtime, stores, providers, tokens, config, log }: ActorsOptions): void {
  const { publicUrl, mailFrom } = config;
  const { database, files } = stores;
  const { model, toolbox, mail, processor } = providers;
  const { actors } = runtime;
  const workspace = (agent: { accountId: string; taskId: string; id: string; workspaceId: string }, callId: string) =>
    workspaceAccess({ actors, database, files }, { ...agent, agentId: agent.id, callId });
  const purse = ({ accountId }: { accountId: string }, callId: string) => purseOf(actors, { accountId, callId });
  const payments = { processor, onMismatch: () => void providers.stats.payments.mismatches++, log };
  runtime.register([
    canaryActor,
    accountActor(accountEffects({ database })),
    userActor(resetMail({ mail, resetToken: tokens.resetToken, publicUrl })),
    emailAddressActor,
    sessionActor,
    apiKeyActor,
    throttleActor,
    passwordResetActor,
    accountSettingsActor,
    walletActor,
    cardActor,
    purchaseOrderActor,
    checkoutActor(checkoutEffects({ actors, mail, salesAddress: operatorAddress(mailFrom), ...payments }), {
      takesPayments: processor !== null,
    }),
    renewalActor(renewalEffects(payments)),
    workspaceActor,
    workspaceNameActor,
    workspaceFileActor({ database, files }),
    taskActor(taskEffects({ model, database, actors })),
    agentActor(toolbox, agentEffects({ model, toolbox, workspace, purse, database, actors, log })),
  ]);
}

/** The sender of the service's mails is who reads those to its operator: the address alone. Unset it is none, and such mails are only kept. */
function operatorAddress(mailFrom: string): string {
  const address = /([^\s<>]+@[^\s<>]+?)>?$/.exec(mailFrom)![1]!;
  return address.endsWith('@localhost') ? 'operator@troupe.invalid' : address;
}
