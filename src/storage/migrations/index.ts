/** The migrations of the platform, and of all domains up to 0033. Later ones of domains are in the domains' folders. */
import { FirstTables } from './0001-first-tables.ts';
import { ClusterIdentity } from './0002-cluster-identity.ts';
import { SharedStorage } from './0003-shared-storage.ts';
import { AccountOverrides } from './0004-account-overrides.ts';
import { Identity } from './0005-identity.ts';
import { Accounts } from './0006-accounts.ts';
import { Webhooks } from './0007-webhooks.ts';
import { Money } from './0008-money.ts';
import { Orders } from './0009-orders.ts';
import { LastingKeys } from './0010-lasting-keys.ts';
import { Payments } from './0011-payments.ts';
import { Issuing } from './0012-issuing.ts';
import { OneBreath } from './0013-one-breath.ts';
import { Subscriptions } from './0014-subscriptions.ts';
import { PaidDeposits } from './0015-paid-deposits.ts';
import { FairEffects } from './0017-fair-effects.ts';
import { Authority } from './0018-authority.ts';
import { TestMode } from './0019-test-mode.ts';
import { EmailVerification } from './0020-email-verification.ts';
import { KeysOfAnAccount } from './0021-keys-of-an-account.ts';
import { FilesOfOneName } from './0022-files-of-one-name.ts';
import { WebhookChallenge } from './0023-webhook-challenge.ts';
import { AccountStorageUse } from './0024-account-storage.ts';
import { DeadLetters } from './0027-dead-letters.ts';
import { MessageOrder } from './0029-message-order.ts';
import { OldRows } from './0031-old-rows.ts';
import { VacuumSettings } from './0032-vacuum-settings.ts';
import { Recounts } from './0033-recounts.ts';

// In the order of their names.
export const firstMigrations = [
  FirstTables,
  ClusterIdentity,
  SharedStorage,
  AccountOverrides,
  Identity,
  Accounts,
  Webhooks,
  Money,
  Orders,
  LastingKeys,
  Payments,
  Issuing,
  OneBreath,
  Subscriptions,
  PaidDeposits,
  FairEffects,
  Authority,
  TestMode,
  EmailVerification,
  KeysOfAnAccount,
  FilesOfOneName,
  WebhookChallenge,
  AccountStorageUse,
  DeadLetters,
  MessageOrder,
  OldRows,
  VacuumSettings,
  Recounts,
];
