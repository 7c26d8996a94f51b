/** The effects of an MCP server's connection: it renews and ends its tokens, and ends agents that depend on it. */
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { untilEnded } from '../renewal/end.ts';
import { type RenewalAnswer, renewTokens } from '../renewal/run.ts';
import type { McpAuthority } from './entity.ts';
import { type McpGrant, type McpRefreshed, mcpServer } from './messages.ts';
import { renewToken, revokeToken } from './protocol/authority.ts';
import { guardedFetch } from './protocol/guarded-fetch.ts';
import type { McpSecretBox } from './secrets.ts';

export type McpEffectParts = {
  actors: Pick<ActorSystem, 'query'>;
  outbound: Outbound;
  log: Log;
  box: McpSecretBox;
  /** Ends the agents that depend on a connection. */
  release(lost: { accountId: string; connection: string; message: string }): Promise<void>;
};

type Revocation = { accountId: string; secrets: string; authority: McpAuthority };

const tokenTimeoutMs = 9_000;

export function mcpServerEffects({ actors, outbound, log, box, release }: McpEffectParts) {
  return {
    refresh: (_input: object, { actorId, signal }: EffectContext): Promise<McpRefreshed> =>
      renewTokens(() => request(actorId), {
        signal,
        onOutage: (detail) => log.warn({ mcp_server: actorId, detail }, 'a token for an MCP server could not be renewed'),
      }),
    revoke,
    release: ({ accountId, message }: { accountId: string; message: string }, { actorId }: EffectContext) =>
      release({ accountId, connection: actorId, message }),
  };

  async function revoke({ accountId, secrets, authority }: Revocation, { actorId, signal }: EffectContext): Promise<void> {
    const { access, refresh, clientSecret } = box.open(secrets, actorId);
    const token = refresh ?? access;
    if (token === null) return;
    const fetchFn = guardedFetch({ outbound, accountId, timeoutMs: tokenTimeoutMs, maxBytes: 2 ** 16 });
    const failed = (err: unknown, tries: number) =>
      log.warn({ mcp_server: actorId, err, tries }, 'tokens of an MCP server could not be ended');
    await untilEnded(() => revokeToken({ authority, clientSecret }, token, fetchFn), { signal, failed });
  }

  async function request(serverId: string): Promise<RenewalAnswer<McpGrant>> {
    const row = await actors.query(mcpServer, serverId, 'get', null);
    if (row === null || row.authority === null) throw new AppError('conflict', 'It was disconnected');
    const secrets = box.open(row.secrets, row.id);
    if (secrets.refresh === null) return { kind: 'refused', error: 'invalid_grant' };
    const fetchFn = guardedFetch({ outbound, accountId: row.accountId, timeoutMs: tokenTimeoutMs, maxBytes: 2 ** 20 });
    const { authority } = row;
    const answer = await renewToken({ authority, clientSecret: secrets.clientSecret }, secrets.refresh, fetchFn);
    if (answer.kind !== 'granted') return answer;
    const { access, refresh, expiresInMs } = answer;
    const next = { ...secrets, access, refresh: refresh ?? secrets.refresh };
    return { kind: 'granted', grant: { secrets: box.seal(next, row.id), renewable: true, expiresInMs } };
  }
}
