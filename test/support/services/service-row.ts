/** One service in the contract suite: its stand-in, a call of each of its tools, and its refusals as the service words them. */
import type { ReceivedMessage, Service } from '../../../src/domains/integrations/services/service.ts';
import type { ServiceFailure } from '../../../src/domains/integrations/services/service-failure.ts';
import type { Json } from '../json.ts';
import type { Scope } from '../scope.ts';
import type { ServiceStandIn, StandInAnswer } from './service-stand-in.ts';

/** The token that may do all, and one that may do nothing; each stand-in begins with both. */
export const goodToken = 'token-of-tests-that-may-do-all';
export const poorToken = 'token-of-tests-that-may-do-nothing';

export type ToolRow<S> = {
  args(standIn: S): Record<string, unknown>;
  /** The request that does it; null: none is made. */
  path: RegExp | null;
  /** The whole result. */
  result(standIn: S): unknown;
  /** Asserts what the service has now. */
  effect?(standIn: S): void;
};

/** What the service answers, and the failure of the tool; `message` of it need only be in the failure's. */
export type Refusal = { answer: StandInAnswer; failure: WithoutMessage<ServiceFailure> & { message?: string } };
type WithoutMessage<F> = F extends unknown ? Omit<F, 'message'> : never;

export type ServiceRow<S extends ServiceStandIn = ServiceStandIn> = {
  service: Service;
  /** Whether the service has scopes that a token can lack. */
  hasScopes: boolean;
  start(t: Scope): Promise<S>;
  attributes?(standIn: S): Record<string, string>;
  received?: ReceivedMessage[];
  /** Every tool, in the order of the description. A call's effects are seen by the next. */
  tools: Readonly<Record<string, ToolRow<S>>>;
  refusals: { notFound: Refusal; forbidden: Refusal; invalid: Refusal; unavailable: Refusal };
  /** A limit without and with the time that it lasts. */
  limited: { plain: StandInAnswer; withRetryAfter(value: string): StandInAnswer };
  /** Lists over more pages than one; absent: no tool of it lists in pages. */
  pages?: { tool: string; args: Record<string, unknown>; make(standIn: S): void; check(result: Json, standIn: S): void };
};

/** Checks the types. The suite knows a stand-in only as what all have in common. */
export function defineRow<S extends ServiceStandIn>(row: ServiceRow<S>): ServiceRow {
  return row as unknown as ServiceRow;
}
