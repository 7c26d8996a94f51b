/** Every domain that a node serves: a new one is added here, and nowhere else. */
import { accounts } from '../domains/accounts/domain.ts';
import { billing } from '../domains/billing/domain.ts';
import { commerce } from '../domains/commerce/domain.ts';
import { deployments } from '../domains/deployments/domain.ts';
import type { Domain } from '../domains/domain.ts';
import { identity } from '../domains/identity/domain.ts';
import { integrations } from '../domains/integrations/domain.ts';
import { tasks } from '../domains/tasks/domain.ts';
import { trading } from '../domains/trading/domain.ts';
import { webhooks } from '../domains/webhooks/domain.ts';
import { workspaces } from '../domains/workspaces/domain.ts';

/** In this order models are offered the domains' tools, and the API reference lists their paths. */
export const domains: readonly Domain[] = [
  tasks,
  workspaces,
  identity,
  accounts,
  webhooks,
  billing,
  commerce,
  trading,
  integrations,
  deployments,
];
