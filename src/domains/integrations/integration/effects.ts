/** The effects of a connection: it renews its tokens, ends its access, checks that it works, and notifies agents. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import { type Log, warned } from '../../../log.ts';
import type { Mode } from '../../../mode.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { SecretError } from '../../../storage/secrets.ts';
import type { IntegrationStats } from '../metrics.ts';
import { type ServiceClients, tokenEndpointOf } from '../oauth/service-client.ts';
import { renew, type TokenAnswer } from '../oauth/token-endpoint.ts';
import { type RenewalAnswer, renewTokens } from '../renewal/run.ts';
import type { ServiceCalls } from '../services/calls.ts';
import { ServiceFailed } from '../services/service-failure.ts';
import { endAccess } from './end-access.ts';
import type { IntegrationRow } from './entity.ts';
import { renewedScopes, renewedTokens, secondRefresh } from './grant.ts';
import { type Checked, type Grant, integration, type Refreshed } from './messages.ts';
import type { TokenBox, Tokens } from './tokens.ts';

export type AgentPort = {
  /** Ends the agents that rely on the connection. */
  release(input: { accountId: string; connection: string; message: string }): Promise<void>;
  /** Wakes the agents that wait for the service. */
  announce(input: { accountId: string; service: string; mode: Mode }): Promise<void>;
};

export type EffectParts = {
  actors: Pick<ActorSystem, 'query' | 'ask'>;
  outbound: Pick<Outbound, 'fetch'>;
  clients: ServiceClients;
  box: TokenBox;
  calls: ServiceCalls;
  agents: AgentPort;
  stats: Pick<IntegrationStats, 'renewals'>;
  log: Log;
};

export type IntegrationEffects = ReturnType<typeof integrationEffects>;

const tokenTimeoutMs = 8_000;

export function integrationEffects({ actors, outbound, clients, box, calls, agents, stats, log }: EffectParts) {
  return { refresh, revoke: end, release, announce, check };

  function refresh(_input: object, { actorId, signal }: EffectContext): Promise<Refreshed> {
    return renewTokens(request, {
      signal,
      onOutage: (detail) => log.warn({ integration: actorId, detail }, 'a token could not be renewed'),
    });

    async function request(): Promise<RenewalAnswer<Grant>> {
      const row = await actors.query(integration, actorId, 'get', null);
      if (row === null || row.status === 'disconnected') throw new AppError('conflict', 'It was disconnected');
      const known = clients.get(row.service);
      const stored = opened(row);
      if (known.client === null || known.service.oauth === null) return { kind: 'refused', error: 'invalid_client' };
      const endpoint = tokenEndpointOf(known, { outbound, account: row.accountId, timeoutMs: tokenTimeoutMs, signal });
      const requestTokens = async (refreshToken: string): Promise<TokenAnswer> => {
        const answer = await renew(endpoint, refreshToken);
        stats.renewals.add([row.service, answer.kind === 'refused' ? answer.error : answer.kind]);
        return answer;
      };
      const answer = await requestTokens(stored.refresh!);
      if (answer.kind !== 'granted') return answer;
      const due = secondRefresh(answer, stored);
      const second = due === null ? null : await requestTokens(due);
      if (second?.kind === 'unavailable')
        log.warn({ integration: actorId, detail: second.detail }, 'the second token of a connection could not be renewed');
      const { tokens, expiresInMs } = renewedTokens(stored, answer, second);
      const hasLostUser = due !== null && tokens.user === null;
      const grantedScopes = renewedScopes(row.grantedScopes, answer, { userScopes: known.service.oauth.userScopes ?? [], hasLostUser });
      return { kind: 'granted', grant: { tokens: box.seal(tokens, row.id), renewable: true, expiresInMs, grantedScopes } };
    }
  }

  async function end({ service, tokens }: { service: string; tokens: string }, { actorId, signal }: EffectContext): Promise<void> {
    const known = clients.find(service);
    if (known === undefined || known.client === null || known.service.oauth === null) return;
    const stored = box.open(tokens, actorId);
    if (stored.kind === 'api_key') return;
    const failed = (err: unknown, tries: number) =>
      log.warn({ integration: actorId, service, err, tries }, 'access could not be ended at a service');
    await endAccess(known, stored, { outbound, account: actorId, signal, failed });
  }

  async function release({ accountId, message }: { accountId: string; message: string }, { actorId }: EffectContext): Promise<void> {
    await warned(log, { integration: actorId }, 'agents that rely on a connection could not be notified', () =>
      agents.release({ accountId, connection: actorId, message }),
    );
  }

  async function announce(input: { accountId: string; service: string; mode: Mode }, { actorId }: EffectContext): Promise<void> {
    await warned(log, { integration: actorId }, 'agents that wait for a connection could not be notified', () => agents.announce(input));
  }

  /** The call itself stores the result: a refused token ends in `needToken`. */
  async function check(_input: object, { actorId, effectId, signal }: EffectContext): Promise<Checked> {
    try {
      const call = await calls.open({ integrationId: actorId, callId: effectId, isRepeat: false, signal });
      const row = await actors.query(integration, actorId, 'get', null);
      if (row !== null) await call.request({ ...clients.get(row.service).service.identity, repeatable: true });
    } catch (err) {
      if (!(err instanceof ServiceFailed)) throw err;
      log.info({ integration: actorId, err }, 'the daily check of a connection failed');
    }
    return { kind: 'checked' };
  }

  function opened({ tokens, id }: IntegrationRow): Tokens {
    try {
      return box.open(tokens, id);
    } catch (cause) {
      if (!(cause instanceof SecretError)) throw cause;
      throw new AppError('unavailable', 'The stored tokens cannot be read since SECRET_KEY was changed: connect again', { cause });
    }
  }
}
