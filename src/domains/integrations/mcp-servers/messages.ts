/** Commands and queries of an MCP server that an account has connected. */
import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import { derivedId } from '../../../ids.ts';
import type { Mode } from '../../../mode.ts';
import { integrationIds } from '../ids.ts';
import type { Renewed, TokenNeed, TokenReply } from '../renewal/turns.ts';
import type { McpAuthority, McpReason, McpServerRow } from './entity.ts';
import type { FoundTool } from './pins.ts';
import type { NamesInUse } from './tool-names.ts';

export type NewMcpServer = Pick<
  McpServerRow,
  'accountId' | 'mode' | 'name' | 'url' | 'headerNames' | 'secrets' | 'authority' | 'redirectUri'
> & {
  /** null: a person must consent first. */
  found: FoundTool[] | null;
  namesInUse?: NamesInUse;
  authorizeUrl: string | null;
};

/** Tokens, as they are stored: `secrets` are encrypted. */
export type McpGrant = {
  secrets: string;
  renewable: boolean;
  /** null: the access token does not expire. */
  expiresInMs: number | null;
};

export type McpRefreshed = Renewed<McpGrant, McpReason>;

export type McpServerContract = {
  commands: {
    /** Refuses (`conflict`) if the account has a server of this name. */
    create(input: NewMcpServer): McpServerRow;
    /** Another consent was begun. */
    asked(input: { authorizeUrl: string }): McpServerRow;
    /** A person has consented. */
    authorized(input: { grant: McpGrant; authorizationId: string }): McpServerRow;
    /** The server's current list. The first list of a server is approved: the person who connected it has named it. */
    listed(input: { found: FoundTool[]; namesInUse?: NamesInUse }): McpServerRow;
    /** Refuses (`conflict`) if a hash is not the current one. */
    approve(input: { tools: { name: string; hash: string }[] }): McpServerRow;
    /** A call was refused because a scope is missing: the next consent requests it too. */
    lacksScope(input: { scope: string }): McpServerRow;
    /** Answered when a newer token is stored, or when none is available. At most one renewal runs. */
    needToken(input: TokenNeed): TokenReply;
    remove(input: null): null;
    /** Outcomes of effects. */
    refreshed(input: EffectResult<McpRefreshed>): null;
    noted(input: EffectResult<void>): null;
  };
  queries: {
    /** null: there is none, or it was removed. */
    get(input: null): McpServerRow | null;
  };
  effects: {
    refresh(input: Record<string, never>): McpRefreshed;
    /** Ends its tokens at the authorization server. */
    revoke(input: { accountId: string; secrets: string; authority: McpAuthority }): void;
    /** Ends the agents that depend on it. */
    release(input: { accountId: string; message: string }): void;
  };
};

export const mcpServer = actorRef<McpServerContract>('mcp_server');

/** The id of an account's server of this name in a mode. */
export function mcpServerIdOf(accountId: string, mode: Mode, name: string): string {
  return derivedId(integrationIds.mcpServer, accountId, accountId, mode, name);
}
