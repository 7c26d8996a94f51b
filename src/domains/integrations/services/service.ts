/**
 * The description of a service that accounts connect to: one file per service, with everything specific to it. What all have in common
 * (tokens, waiting, errors, limits) is elsewhere, once.
 */
import type { TObject } from 'typebox';
import type { Clock } from '../../../clock.ts';
import type { ServiceFailure } from './service-failure.ts';

export type Service = {
  /** Part of stored records and of settings (`GMAIL_CLIENT_ID`): never change it. */
  name: string;
  /** The display name, such as "Google Ads". */
  title: string;
  /** When the shapes in this file were last compared with their source, as YYYY-MM-DD, and which source that was. */
  shapeSeen: string;
  shapeSource: string;
  /** The base that official paths are added to. */
  apiUrl: string;
  /** Headers of every request, such as a pinned version. */
  headers: Readonly<Record<string, string>>;
  /** null: connected by an API key only. */
  oauth: ServiceOAuth | null;
  /** Whether `api_key` may be given instead of a code. */
  takesApiKey: boolean;
  /** A cheap request that shows whether a token works, for connecting by key and for the daily check. */
  identity: { method: 'GET' | 'POST'; path: string };
  /** The failure that an answer means, where it differs from what its status says (such as `{ok: false}` in a 200); undefined: none. */
  failureIn?(answer: ServiceAnswer, nowMs: number): ServiceFailure | undefined;
  /** Whether an answer refuses the token, where the status is not 401 (such as `{ok: false, error: 'token_expired'}` in a 200). */
  refusesToken?(answer: ServiceAnswer): boolean;
  /**
   * Discovers attributes while connecting, by requests with the new tokens. Fails with `ServiceFailed`: `invalid` for a fault of the
   * caller's values.
   */
  discover?(connecting: Connecting): Promise<Discovered>;
  tools: readonly ServiceTool[];
};

/** A connection that is being made. */
export type Connecting = {
  /** From the body of the request, by the names there. */
  given: Readonly<Record<string, string>>;
  tokens: { access: string };
  client: OAuthClient | null;
  /** One try; its `headers` may contain another `authorization`. */
  request(request: ServiceRequest): Promise<ServiceAnswer>;
};
/** `inboundId`: the account's name at the service in messages to the inbound endpoint. */
export type Discovered = { attributes: Readonly<Record<string, string>>; inboundId: string | null };

/** `replaceable`: the setting `S_REVOKE_URL` replaces it. */
type OwnRevocation = {
  request(tokens: { access: string; refresh: string | null }, client: OAuthClient): RevokeRequest;
  replaceable?: true;
};

export type ServiceOAuth = {
  authorizeUrl: string;
  tokenUrl: string;
  /** How access ends at the service: RFC 7009 at `url`, or by a request of its own; null: not possible. */
  revoke: { url: string } | OwnRevocation | null;
  /** Besides the parameters that all have, such as `access_type=offline`. */
  authorizeParameters: Readonly<Record<string, string>>;
  /** How the client authenticates at the token endpoint. */
  clientAuthentication: 'body' | 'basic';
  /** Between scopes of the authorize request. */
  scopeSeparator: ' ' | ',';
  /** The name of the scope parameter; Slack's user scopes have their own. */
  scopeParameter: 'scope' | 'user_scope';
  /** Scopes that are requested in `user_scope` instead of `scopeParameter`; they belong to the token `user` of `tokensIn`. */
  userScopes?: readonly string[];
  /**
   * Converts a token answer of another form to that of RFC 6749, with all granted scopes; `user`: a second token, for requests `as:
   * 'user'`.
   */
  tokensIn?(answer: Readonly<Record<string, unknown>>): ReadTokens;
  /** A refusal inside a 200, as the OAuth error that it means; undefined: none. */
  errorIn?(answer: Readonly<Record<string, unknown>>): string | undefined;
};
/** Both parts with the fields of RFC 6749. `user`: null if there is no second token. */
export type ReadTokens = { standard: Readonly<Record<string, unknown>>; user: Readonly<Record<string, unknown>> | null };
export type OAuthClient = { id: string; secret: string };
export type RevokeRequest = { method: 'POST' | 'DELETE'; path: string; headers: Record<string, string>; body?: string };

export type ServiceTool = {
  /** Part of recorded calls: never change it. */
  name: string;
  /** Written for the model: what the tool does, when to use it, what it returns. */
  description: string;
  parameters: TObject;
  /** The connection needs one of these; empty: every connection has the tool. The first is asked for when connecting. */
  scopes: readonly string[];
  /** Whether it changes anything at the service: needs scope integrations.write, otherwise integrations.read. */
  writes: boolean;
  /** Reaches people or spends money: approved by a person below autonomy 100. */
  highConsequence: boolean;
  /** Its result contains text written by others, which must not direct the agent. */
  untrusted: boolean;
  /** A repeat with the same `callId` after a crash does no harm. */
  repeatable: boolean;
  /** The full effect as plain text for the person who approves; default: the arguments. */
  preview?(args: any, call: ServiceCall): Promise<string>;
  /** Returns JSON. Fails with `ServiceFailed`. */
  run(args: any, call: ServiceCall): Promise<unknown>;
};

/** One tool call at the service, on behalf of a connection. */
export interface ServiceCall {
  accountId: string;
  /** The id of the integration. */
  integrationId: string;
  /** The same for every try of this call: the idempotency key where the service takes one. */
  callId: string;
  /** An earlier try of this call may have reached the service. */
  isRepeat: boolean;
  /** Attributes that connecting has discovered besides the tokens, such as `phone_number_id`. */
  attributes: Readonly<Record<string, string>>;
  clock: Clock;
  /**
   * Waits for a limit of the service up to two minutes, renews the token if necessary, and retries if that is safe. Resolves with a 2xx
   * answer; otherwise throws `ServiceFailed`.
   */
  request(request: ServiceRequest): Promise<ServiceAnswer>;
  /** Messages that the inbound endpoint of the service stored for this connection, newest first. */
  received(query: { from: string | null; limit: number }): Promise<ReceivedMessage[]>;
}

export type ServiceRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the service's base address, with a leading slash; parameters are encoded by the caller. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as application/x-www-form-urlencoded. */
  form?: Readonly<Record<string, string>>;
  /** A repeat does no harm: the request may be retried after an unclear failure. Default: true for GET. */
  repeatable?: boolean;
  /** The part of the service that its limits count together; default: method and the first segments of the path. */
  limit?: string;
  /** Statuses besides 2xx that are an answer. */
  accept?: readonly number[];
  /** The second token of `ServiceOAuth.tokensIn`; if there is none, the only one. */
  as?: 'user';
};

export type ServiceAnswer = {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** The parsed JSON body; null for an empty one. */
  body: any;
};

export type ReceivedMessage = { id: string; from: string; text: string; at: string };

/** Checks the types and returns the same. */
export function defineService(service: Service): Service {
  return service;
}
