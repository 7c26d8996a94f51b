/** Every domain that a node serves: a new one is named here, and nowhere else. */
import { accounts } from '../domains/accounts/domain.ts';
import { billing } from '../domains/billing/domain.ts';
import { commerce } from '../domains/commerce/domain.ts';
import type { Domain, Platform, StartedDomain } from '../domains/domain.ts';
import { identity } from '../domains/identity/domain.ts';
import { tasks } from '../domains/tasks/domain.ts';
import { webhooks } from '../domains/webhooks/domain.ts';
import { workspaces } from '../domains/workspaces/domain.ts';
import type { Authenticator } from '../edge/auth/authenticator.ts';
import { joinSchemas } from '../storage/schema.ts';

/** Models are offered their tools in this order. */
export const domains: readonly Domain[] = [tasks, workspaces, identity, accounts, webhooks, billing, commerce];

/** What all of them keep in the database. */
export const productSchema = joinSchemas(domains.map(({ schema }) => schema));

/** Starts them all: their actors are to be registered, then the runtime started. */
export function startDomains(platform: Platform): { domains: StartedDomain[]; authenticator: Authenticator } {
  const agentTools = domains.flatMap((domain) => domain.agentTools?.(platform) ?? []);
  const started = domains.map((domain) => domain.start({ ...platform, agentTools }));
  const { authenticator } = started.find((domain) => domain.authenticator !== undefined)!;
  return { domains: started, authenticator: authenticator! };
}
