/** One service in the contract suite: its stand-in, a call of each of its tools, and its refusals in the service's form. */
import type { ReceivedMessage, Service } from '../../../src/domains/integrations/services/service.ts';
import type { ServiceFailure } from '../../../src/domains/integrations/services/service-failure.ts';
import type { Json } from '../json.ts';
import type { Scope } from '../scope.ts';
import type { ServiceStandIn, StandInAnswer } from './service-stand-in.ts';

/** The token that may do all, and one that may do nothing; each stand-in begins with both. */
export const goodToken = 'token-of-tests-that-may-do-all';
export const tokenWithoutScopes = 'token-of-tests-that-may-do-nothing';

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

/** Of the environment, by what they are in a plan. `token`: an access token of an account for tests. */
export type Given = Readonly<Record<string, string>> & { readonly token: string };

/**
 * How the true service is tried, where the environment has what it needs. What is written there is marked as of a test; nothing is sent to people but the
 * address or number given.
 */
export type TruePlan<S> = {
  /** Names of the variables. */
  variables: { token: string } & Readonly<Record<string, string>>;
  /** What they would be if the stand-in were the true service: so the plan itself is tried. */
  ofStandIn(standIn: S): Given;
  attributes?(given: Given): Record<string, string>;
  /** Calls in this order; later ones may use what earlier ones answered. Tools that are not here cannot be undone, or need more than a token. */
  calls: Readonly<Record<string, (given: Given, results: Readonly<Record<string, Json>>) => Record<string, unknown>>>;
  /** A call about something that does not exist. */
  unknown: { tool: string; args(given: Given): Record<string, unknown> };
};

/** What is written at a true service. */
export const mark = `Troupe conformance ${Date.now().toString(36)}`;

export type ServiceRow<S extends ServiceStandIn = ServiceStandIn> = {
  service: Service;
  /** Whether the service has scopes that a token can lack. */
  hasScopes: boolean;
  start(t: Scope): Promise<S>;
  attributes?(standIn: S): Record<string, string>;
  received?: ReceivedMessage[];
  truePlan: TruePlan<S>;
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
