/**
 * Requests at services on behalf of connections: the parts that all services have in common.
 *
 * C1 A token that has expired is never sent. One that ends soon is renewed first.
 * C2 A refused token is renewed once, and the request tried once more.
 * C3 A request that may have had an effect is not tried again, unless the service recognises a repeat.
 * C4 No token and no secret is in an error.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { backoffMs } from '../../../backoff.ts';
import { type Clock, isoTimestamp, monotonicMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { JsonBounds } from '../../../json-bounds.ts';
import type { Outbound, OutboundResponse } from '../../../providers/outbound/port.ts';
import { retryAfterMs } from '../../../retry-after.ts';
import { SecretError } from '../../../storage/secrets.ts';
import type { IntegrationRow } from '../integration/entity.ts';
import { integration } from '../integration/messages.ts';
import type { TokenBox, Tokens } from '../integration/tokens.ts';
import { connectUrl } from '../integration/view.ts';
import type { IntegrationStats } from '../metrics.ts';
import type { ServiceClient, ServiceClients } from '../oauth/service-client.ts';
import { renewalWaitMs, type TokenReply } from '../renewal/turns.ts';
import { failureByStatus, withoutSecrets } from './answer-failure.ts';
import { reasonTexts } from './granted.ts';
import { LimitGates } from './limit-gate.ts';
import type { ReceivedMessage, ServiceAnswer, ServiceCall, ServiceRequest } from './service.ts';
import { ServiceFailed, type ServiceFailure } from './service-failure.ts';

/** One tool call, or one check, of a connection. */
export type CallOf = {
  integrationId: string;
  /** The same for every try of the call. */
  callId: string;
  /** An earlier try may have reached the service. */
  isRepeat: boolean;
  signal: AbortSignal;
};

/** A request with tokens that are not stored yet: while connecting. */
export type UnstoredCall = {
  known: ServiceClient;
  accountId: string;
  tokens: Tokens;
  attributes: Record<string, string>;
  signal: AbortSignal;
};

export interface ServiceCalls {
  /** The number of limits of services that apply on this node now. */
  readonly limits: number;
  /** Throws `ServiceFailed` if there is no usable connection. */
  open(call: CallOf): Promise<ServiceCall>;
  /** One request with one try. */
  once(call: UnstoredCall, request: ServiceRequest): Promise<ServiceAnswer>;
}

/** A person ended the connection of a call. */
export class Disconnected extends ServiceFailed {
  override name = 'Disconnected';
  constructor(title: string) {
    super({ type: 'forbidden', message: `${title} was disconnected`, scope: null });
  }
}

export type CallParts = {
  actors: Pick<ActorSystem, 'ask' | 'query'>;
  outbound: Pick<Outbound, 'fetch'>;
  clients: ServiceClients;
  box: TokenBox;
  clock: Clock;
  stats: Pick<IntegrationStats, 'calls' | 'callS'>;
  received(integrationId: string, query: { from: string | null; limit: number }): Promise<ReceivedMessage[]>;
  publicUrl(): string;
};

const requestTimeoutMs = 30_000;
const maxAnswerBytes = 2 * 2 ** 20;
/** A parser cannot pause, and many small values cost it more than their bytes. */
const answerLimits = { maxDepth: 256, maxValues: 100_000 };
/** How long one request waits for the limits of a service. */
const maxWaitMs = 120_000;
const firstPauseMs = 1_000;
const retries = 3;

type Usable = { row: IntegrationRow; known: ServiceClient; tokens: Tokens };

export function openServiceCalls({ actors, outbound, clients, box, clock, stats, received, publicUrl }: CallParts): ServiceCalls {
  const gates = new LimitGates();
  /** On this node: many calls of one connection need one answer. */
  const renewals = new Map<string, Promise<TokenReply>>();

  return {
    get limits() {
      return gates.size;
    },
    async open({ integrationId, callId, isRepeat, signal }) {
      const { row } = await usable(integrationId);
      return {
        ...{ accountId: row.accountId, integrationId, callId, isRepeat, attributes: row.attributes, clock },
        request: (request) => counted(row.service, () => send(integrationId, request, signal).catch(withConnectUrl(row))),
        received: (query) => received(integrationId, query),
      };
    },
    async once({ known, accountId, tokens, signal }, request) {
      const answer = await fetch(known, tokens, accountId, request, signal);
      const failure = failureOf(known, answer, request);
      if (failure !== undefined) throw failed(failure, tokens);
      return answer;
    },
  };

  async function send(integrationId: string, request: ServiceRequest, signal: AbortSignal): Promise<ServiceAnswer> {
    const untilMs = monotonicMs() + maxWaitMs;
    const mayRepeat = mayRepeatOf(request);
    let renewed = false;
    for (let limits = 0, faults = 0; ; ) {
      const current = await withFreshToken(integrationId);
      const { row, known, tokens } = current;
      const passage = await gates.pass(`${row.accountId} ${row.service} ${limitOf(request)}`, untilMs, signal);
      if (typeof passage === 'number') throw failed(limitedUntil(known, passage), tokens);
      let answer: ServiceAnswer | null = null;
      let failure: ServiceFailure | undefined;
      try {
        answer = await fetch(known, tokens, row.accountId, request, signal);
        failure = failureOf(known, answer, request);
      } catch (error) {
        if (!(error instanceof ServiceFailed)) throw error;
        failure = error.failure;
      } finally {
        if (failure?.type !== 'rate_limited') passage.passed();
      }
      if (answer !== null && (answer.status === 401 || known.service.refusesToken?.(answer) === true)) {
        if (renewed) throw failed({ type: 'forbidden', message: `${known.service.title} does not take the token`, scope: null }, tokens);
        renewed = true;
        await renew(current, 'rejected');
        continue;
      }
      if (failure === undefined) return answer!;
      if (failure.type === 'rate_limited') {
        const waitMs = waitOf(failure, answer, limits);
        limits++;
        if (waitMs === null || monotonicMs() + waitMs > untilMs) {
          passage.limited(waitMs ?? backoffMs(limits, firstPauseMs, 4_000));
          throw failed(waitMs === null ? failure : { ...failure, retryAt: isoTimestamp(clock.nowMs() + waitMs) }, tokens);
        }
        passage.limited(waitMs);
        continue;
      }
      if (failure.type === 'unavailable' && !mayRepeat) throw failed(inDoubt(failure), tokens);
      if (failure.type !== 'unavailable' || faults === retries) throw failed(failure, tokens);
      const waitMs = namedWait(answer) ?? backoffMs(faults, firstPauseMs, 4_000);
      if (monotonicMs() + waitMs > untilMs) throw failed(failure, tokens);
      faults++;
      await pause(waitMs, null, { signal });
    }
  }

  /** Adds the address at which a person grants a missing permission to a refusal because of it. */
  function withConnectUrl({ service, redirectUri }: IntegrationRow): (error: unknown) => never {
    return (error) => {
      if (!(error instanceof ServiceFailed) || error.failure.type !== 'forbidden' || error.failure.scope === null) throw error;
      const { failure } = error;
      const url = connectUrl(publicUrl(), service, redirectUri);
      throw new ServiceFailed({
        ...failure,
        message: `${failure.message}. A person has to allow ${failure.scope} by connecting again: ${url}`,
      });
    };
  }

  async function withFreshToken(integrationId: string): Promise<Usable> {
    const current = await usable(integrationId);
    const { renewAt, expiresAt } = current.row;
    const dueAt = renewAt ?? expiresAt;
    const isDue = current.row.renewable ? dueAt !== null && dueAt <= clock.nowMs() : expiresAt !== null && expiresAt <= clock.nowMs();
    if (!isDue) return current;
    await renew(current, 'due');
    return usable(integrationId);
  }

  async function usable(integrationId: string): Promise<Usable> {
    const row = await actors.query(integration, integrationId, 'get', null);
    const known = row === null ? undefined : clients.find(row.service);
    if (row === null || known === undefined || row.status === 'disconnected') throw new Disconnected(known?.service.title ?? 'The service');
    if (row.status === 'error') throw new ServiceFailed(endedFailure(known, row));
    try {
      return { row, known, tokens: box.open(row.tokens, row.id) };
    } catch (cause) {
      if (!(cause instanceof SecretError)) throw cause;
      const message = `The stored tokens of ${known.service.title} cannot be read since SECRET_KEY was changed: connect it again`;
      throw new ServiceFailed({ type: 'forbidden', message, scope: null });
    }
  }

  /** Resolves when there is a newer token. */
  async function renew({ row, known }: Usable, why: 'due' | 'rejected'): Promise<void> {
    const { id, generation } = row;
    const name = `${id} ${generation} ${why}`;
    let renewal = renewals.get(name);
    if (renewal === undefined) {
      renewal = actors
        .ask(integration, id, 'needToken', { generation, why }, { timeoutMs: renewalWaitMs })
        .finally(() => renewals.delete(name));
      renewals.set(name, renewal);
    }
    let reply: TokenReply;
    try {
      reply = await renewal;
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'draining') throw error;
      reply = { kind: 'unavailable', message: 'its tokens could not be renewed in time' };
    }
    if (reply.kind === 'unavailable')
      throw new ServiceFailed({ type: 'unavailable', message: `${known.service.title} gives no tokens now: ${reply.message}` });
    if (reply.kind !== 'ended') return;
    const now = await actors.query(integration, id, 'get', null);
    if (now === null || now.status === 'disconnected') throw new Disconnected(known.service.title);
    throw new ServiceFailed(endedFailure(known, now));
  }

  async function fetch(
    known: ServiceClient,
    tokens: Tokens,
    account: string,
    request: ServiceRequest,
    signal: AbortSignal,
  ): Promise<ServiceAnswer> {
    const { method, json, form } = request;
    const token = request.as === 'user' ? (tokens.user ?? tokens.access) : tokens.access;
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...known.service.headers,
      authorization: `Bearer ${token}`,
      ...request.headers,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const body = json === undefined ? (form === undefined ? undefined : new URLSearchParams(form).toString()) : JSON.stringify(json);
    const url = `${known.apiUrl}${request.path}${queryOf(request)}`;
    const sent = { method, headers, account, signal, ...(body !== undefined && { body }) };
    let arrived: OutboundResponse;
    try {
      arrived = await outbound.fetch(url, { ...sent, configured: true, timeoutMs: requestTimeoutMs, maxBytes: maxAnswerBytes });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      throw new ServiceFailed({ type: 'unavailable', message: `${known.service.title}: ${error.message}` });
    }
    return answerOf(arrived, known, request);
  }

  function failureOf(known: ServiceClient, answer: ServiceAnswer, { accept }: ServiceRequest): ServiceFailure | undefined {
    if (accept?.includes(answer.status)) return undefined;
    return known.service.failureIn?.(answer, clock.nowMs()) ?? failureByStatus(answer, known.service.title);
  }

  /** null: later than any call waits, or unknown after three tries. */
  function waitOf(failure: Extract<ServiceFailure, { type: 'rate_limited' }>, answer: ServiceAnswer | null, limits: number): number | null {
    const named = failure.retryAt === null ? namedWait(answer) : atLeastAPause(Date.parse(failure.retryAt) - clock.nowMs());
    if (named !== null) return named;
    return limits < retries ? backoffMs(limits, firstPauseMs, 4_000) : null;
  }

  function namedWait(answer: ServiceAnswer | null): number | null {
    const namedMs = retryAfterMs(answer?.headers['retry-after'], clock.nowMs());
    return namedMs === null ? null : atLeastAPause(namedMs);
  }

  function limitedUntil({ service }: ServiceClient, waitMs: number): ServiceFailure {
    const retryAt = isoTimestamp(clock.nowMs() + waitMs);
    return { type: 'rate_limited', message: `${service.title} takes no more of these requests until ${retryAt}`, retryAt };
  }

  async function counted<T>(service: string, work: () => Promise<T>): Promise<T> {
    const begunAtMs = performance.now();
    let outcome = 'ok';
    try {
      return await work();
    } catch (error) {
      outcome = error instanceof ServiceFailed ? error.failure.type : 'error';
      throw error;
    } finally {
      stats.calls.add([service, outcome]);
      stats.callS.record((performance.now() - begunAtMs) / 1_000);
    }
  }
}

function failed(failure: ServiceFailure, { access, user, refresh, userRefresh = null }: Tokens): ServiceFailed {
  return new ServiceFailed(withoutSecrets(failure, [access, user, refresh, userRefresh]));
}

function endedFailure({ service }: ServiceClient, row: IntegrationRow): ServiceFailure {
  const why = reasonTexts[row.reason ?? 'revoked'];
  return {
    type: 'forbidden',
    message: `The connection to ${service.title} has ended: ${why}. A person has to connect it again`,
    scope: null,
  };
}

/** A time that is over already, such as by another clock, must not cause a storm of requests. */
function atLeastAPause(ms: number): number {
  return Math.max(firstPauseMs, ms);
}

function inDoubt(failure: ServiceFailure): ServiceFailure {
  return { ...failure, message: `${failure.message}. Whether it was done is not known` };
}

function mayRepeatOf({ method, repeatable }: ServiceRequest): boolean {
  return repeatable ?? method === 'GET';
}

function answerOf(
  { status, headers, body, truncated }: OutboundResponse,
  { service }: ServiceClient,
  request: ServiceRequest,
): ServiceAnswer {
  // A repeat would get an answer of the same length: only a different request helps.
  const excess = truncated ? 'more than 2 MiB' : new JsonBounds(answerLimits).take(body) ? null : 'more values than are read';
  const tooLong = `${service.title} answered with ${excess}`;
  if (excess !== null && mayRepeatOf(request))
    throw new ServiceFailed({ type: 'invalid', message: `${tooLong}: ask for less`, field: null });
  if (excess !== null) throw new ServiceFailed({ type: 'unavailable', message: tooLong });
  const text = Buffer.from(body).toString('utf8');
  if (text.trim() === '') return { status, headers, body: null };
  try {
    return { status, headers, body: JSON.parse(text) };
  } catch {
    // An error page is recognized by its status.
    if (status >= 300) return { status, headers, body: null };
    throw new ServiceFailed({ type: 'unavailable', message: `${service.title} answered ${status} with something that is no JSON` });
  }
}

function queryOf({ query = {} }: ServiceRequest): string {
  const given = Object.entries(query).filter((entry): entry is [string, string | number | boolean] => entry[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** The part of the service that its limits count together. */
function limitOf({ limit, method, path }: ServiceRequest): string {
  return limit ?? `${method} ${path.split('/').slice(0, 3).join('/')}`;
}
