/** Every domain that a node serves: a new one is named here, and nowhere else. Each may use what stands above it. */
import { accounts } from '../domains/accounts/domain.ts';
import { billing } from '../domains/billing/domain.ts';
import { commerce } from '../domains/commerce/domain.ts';
import type { Domain } from '../domains/domain.ts';
import { identity } from '../domains/identity/domain.ts';
import { tasks } from '../domains/tasks/domain.ts';
import { webhooks } from '../domains/webhooks/domain.ts';
import { workspaces } from '../domains/workspaces/domain.ts';
import { joinSchemas } from '../storage/schema.ts';

export const domains: readonly Domain[] = [accounts, identity, workspaces, tasks, commerce, billing, webhooks];

/** What all of them keep in the database. */
export const productSchema = joinSchemas(domains.map(({ schema }) => schema));
