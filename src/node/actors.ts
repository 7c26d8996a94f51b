/** Every kind of actor there is, with what it needs of the outside. */

import { canaryActor } from '../actors/canary/canary.ts';
import type { Runtime } from '../actors/runtime.ts';
import type { Authority } from '../authority.ts';
import type { Config } from '../config.ts';
import { accountActor } from '../domains/accounts/account/account.ts';
import { accountEffects } from '../domains/accounts/account/effects.ts';
import { accountSettingsActor } from '../domains/accounts/account-settings/account-settings.ts';
import { accountStorageActor } from '../domains/accounts/account-storage/account-storage.ts';
import { storageEffects } from '../domains/accounts/account-storage/count.ts';
import { checkoutActor } from '../domains/billing/checkout/checkout.ts';
import { checkoutEffects } from '../domains/billing/checkout/effects.ts';
import { renewalEffects } from '../domains/billing/renewal/effects.ts';
import { renewalActor } from '../domains/billing/renewal/renewal.ts';
import { cardActor } from '../domains/commerce/card/card.ts';
import { purchaseOrderActor } from '../domains/commerce/purchase-order/purchase-order.ts';
import { walletActor } from '../domains/commerce/wallet/wallet.ts';
import { apiKeyActor } from '../domains/identity/api-key/api-key.ts';
import { emailAddressActor } from '../domains/identity/email-address/email-address.ts';
import { passwordResetActor } from '../domains/identity/password-reset/password-reset.ts';
import { sessionActor } from '../domains/identity/session/session.ts';
import { throttleActor } from '../domains/identity/throttle/throttle.ts';
import { keyRevocation } from '../domains/identity/user/key-revocation.ts';
import { userMails } from '../domains/identity/user/mails.ts';
import { userActor } from '../domains/identity/user/user.ts';
import { agentActor } from '../domains/tasks/agent/agent.ts';
import { agentMail } from '../domains/tasks/agent/agent-mail.ts';
import { agentEffects } from '../domains/tasks/agent/effects.ts';
import type { AgentRow } from '../domains/tasks/agent/entity.ts';
import { taskEffects } from '../domains/tasks/task/effects.ts';
import { taskActor } from '../domains/tasks/task/task.ts';
import type { Toolbox } from '../domains/tasks/tools/port.ts';
import { workspaceActor } from '../domains/workspaces/workspace/workspace.ts';
import { workspaceAccess } from '../domains/workspaces/workspace-file/workspace-access.ts';
import { workspaceFileActor } from '../domains/workspaces/workspace-file/workspace-file.ts';
import { workspaceNameActor } from '../domains/workspaces/workspace-name/workspace-name.ts';
import type { Tokens } from '../edge/auth/tokens.ts';
import type { Log } from '../log.ts';
import { domainOf } from '../providers/mail/compose-mail.ts';
import type { Providers } from './providers.ts';
import type { Stores } from './stores.ts';

export type ActorsOptions = {
  runtime: Runtime;
  stores: Stores;
  providers: Providers;
  toolbox: Toolbox;
  tokens: Tokens;
  config: Pick<Config, 'publicUrl' | 'mailFrom' | 'agentMailFrom' | 'smtpUrl'>;
  log: Log;
};

export function registerActors({ runtime, stores, providers, toolbox, tokens, config, log }: ActorsOptions): void {
  const { publicUrl, mailFrom } = config;
  const { database, files } = stores;
  const { model, compute, mail, processor } = providers;
  const { actors } = runtime;
  const workspace = (agent: AgentRow, authority: Authority, callId: string) =>
    workspaceAccess({ actors, database, files }, { ...agent, agentId: agent.id, authority, callId });
  const mailParts = { actors, database, mail, from: config.agentMailFrom ?? agentSender(mailFrom), reachesPeople: config.smtpUrl !== null };
  const payments = { processor, onMismatch: () => void providers.stats.payments.mismatches++, log };
  runtime.register([
    canaryActor,
    accountActor(accountEffects({ database })),
    userActor({ ...userMails({ mail, ...tokens, publicUrl }), revokeKeys: keyRevocation({ actors, database }) }),
    emailAddressActor,
    sessionActor,
    apiKeyActor,
    throttleActor,
    passwordResetActor,
    accountSettingsActor,
    accountStorageActor(storageEffects({ database })),
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
    agentActor(
      toolbox,
      agentEffects({
        model,
        toolbox,
        workspace,
        mail: (agent, callId) => agentMail(mailParts, agent, callId),
        compute,
        database,
        actors,
        log,
      }),
    ),
  ]);
}

/** Another address of the same domain, so that no mail of an agent looks like one of the service. */
function agentSender(mailFrom: string): string {
  return `Troupe agent <agents@${domainOf(mailFrom)}>`;
}

/** The sender of the service's mails is who reads those to its operator: the address alone. Unset it is none, and such mails are only kept. */
function operatorAddress(mailFrom: string): string {
  const address = mailFrom.split(/[\s<>]/).findLast((part) => part.includes('@'))!;
  return address.endsWith('@localhost') ? 'operator@troupe.invalid' : address;
}
