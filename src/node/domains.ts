/** Every domain that a node serves: a new one is added here, and nowhere else. */
import { accounts } from '../domains/accounts/domain.ts';
import { billing } from '../domains/billing/domain.ts';
import { commerce } from '../domains/commerce/domain.ts';
import type { Domain } from '../domains/domain.ts';
import { identity } from '../domains/identity/domain.ts';
import { tasks } from '../domains/tasks/domain.ts';
import { trading } from '../domains/trading/domain.ts';
import { webhooks } from '../domains/webhooks/domain.ts';
import { workspaces } from '../domains/workspaces/domain.ts';

/** Models are offered their tools in this order, and the API reference has their paths in it. */
export const domains: readonly Domain[] = [tasks, workspaces, identity, accounts, webhooks, billing, commerce, trading];
