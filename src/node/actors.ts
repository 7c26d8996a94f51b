/** Every kind of actor there is, with what it needs of the outside. */
import { accountActor } from '../actors/account/account.ts';
import { accountEffects } from '../actors/account/effects.ts';
import { accountSettingsActor } from '../actors/account-settings/account-settings.ts';
import { accountStorageActor } from '../actors/account-storage/account-storage.ts';
import { storageEffects } from '../actors/account-storage/count.ts';
import { agentActor } from '../actors/agent/agent.ts';
import { agentMail } from '../actors/agent/agent-mail.ts';
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
import { keyRevocation } from '../actors/user/key-revocation.ts';
import { userMails } from '../actors/user/mails.ts';
import { userActor } from '../actors/user/user.ts';
import { walletActor } from '../actors/wallet/wallet.ts';
import { workspaceActor } from '../actors/workspace/workspace.ts';
import { workspaceAccess } from '../actors/workspace-file/workspace-access.ts';
import { workspaceFileActor } from '../actors/workspace-file/workspace-file.ts';
import { workspaceNameActor } from '../actors/workspace-name/workspace-name.ts';
import type { Authority } from '../authority.ts';
import type { Config } from '../config.ts';
import type { Tokens } from '../edge/auth/tokens.ts';
import type { Log } from '../log.ts';
import type { AccountMode } from '../mode.ts';
import { domainOf } from '../providers/mail/compose-mail.ts';
import type { AgentRow } from '../storage/entities/work.ts';
import type { Providers } from './providers.ts';
import type { Stores } from './stores.ts';

export type ActorsOptions = {
  runtime: Runtime;
  stores: Stores;
  providers: Providers;
  tokens: Tokens;
  config: Pick<Config, 'publicUrl' | 'mailFrom' | 'agentMailFrom' | 'smtpUrl'>;
  log: Log;
};

export function registerActors({ runtime, stores, providers, tokens, config, log }: ActorsOptions): void {
  const { publicUrl, mailFrom } = config;
  const { database, files } = stores;
  const { model, toolbox, compute, mail, processor } = providers;
  const { actors } = runtime;
  const workspace = (agent: AgentRow, authority: Authority, callId: string) =>
    workspaceAccess({ actors, database, files }, { ...agent, agentId: agent.id, authority, callId });
  const purse = ({ accountId, mode }: AccountMode, callId: string) => purseOf(actors, { accountId, mode, callId });
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
        purse,
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
