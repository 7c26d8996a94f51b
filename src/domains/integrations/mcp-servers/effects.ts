/** What an MCP server's connection does outside: it renews its tokens, and ends agents that rely on it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectContext } from '../../../actors/define-actor.ts';
import { backoffMs } from '../../../backoff.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { type McpRefreshed, mcpServer } from './messages.ts';
import { renewToken } from './protocol/authority.ts';
import { guardedFetch } from './protocol/guarded-fetch.ts';
import type { McpSecretBox } from './secrets.ts';

export type McpEffectParts = {
  actors: Pick<ActorSystem, 'query'>;
  outbound: Outbound;
  log: Log;
  box: McpSecretBox;
  /** Ends the agents that rely on a connection. */
  release(lost: { accountId: string; connection: string; message: string }): Promise<void>;
};

const tries = 3;
const firstPauseMs = 500;
const tokenTimeoutMs = 9_000;

export function mcpServerEffects({ actors, outbound, log, box, release }: McpEffectParts) {
  return {
    /** The second try after a refusal is with the newest stored token: another one may have been lost in a crash. */
    async refresh(_input: object, { actorId, signal }: EffectContext): Promise<McpRefreshed> {
      for (let failures = 0, refusals = 0; ; ) {
        const row = await actors.query(mcpServer, actorId, 'get', null);
        if (row === null || row.authority === null) return { kind: 'refused', reason: 'revoked' };
        const secrets = box.open(row.secrets, row.id);
        if (secrets.refresh === null) return { kind: 'refused', reason: 'expired' };
        const fetchFn = guardedFetch({ outbound, accountId: row.accountId, timeoutMs: tokenTimeoutMs, maxBytes: 2 ** 20 });
        const { authority } = row;
        const answer = await renewToken({ authority, clientSecret: secrets.clientSecret }, secrets.refresh, fetchFn);
        signal.throwIfAborted();
        if (answer.kind === 'granted') {
          const { access, refresh, expiresInMs } = answer;
          const next = { ...secrets, access, refresh: refresh ?? secrets.refresh };
          return { kind: 'granted', grant: { secrets: box.seal(next, row.id), renewable: true, expiresInMs } };
        }
        if (answer.kind === 'refused') {
          if (answer.error === 'invalid_client') return { kind: 'refused', reason: 'client_misconfigured' };
          if (++refusals === 2) return { kind: 'refused', reason: 'revoked' };
          continue;
        }
        log.warn({ mcp_server: actorId, detail: answer.detail }, 'a token for an MCP server could not be renewed');
        if (++failures === tries) throw new AppError('unavailable', answer.detail);
        await pause(backoffMs(failures - 1, firstPauseMs, 4_000), null, { signal });
      }
    },
    release: ({ accountId, message }: { accountId: string; message: string }, { actorId }: EffectContext) =>
      release({ accountId, connection: actorId, message }),
  };
}
