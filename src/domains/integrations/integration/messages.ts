/** Commands and queries of an account's connection to a service. */
import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import { derivedId } from '../../../ids.ts';
import type { Mode } from '../../../mode.ts';
import { integrationIds } from '../ids.ts';
import type { Renewed, TokenNeed, TokenReply } from '../renewal/turns.ts';
import type { InboundMessage } from '../whatsapp/received.ts';
import type { ErrorReason, IntegrationRow } from './entity.ts';

/** The service's grant, as stored: `tokens` are encrypted. */
export type Grant = {
  tokens: string;
  renewable: boolean;
  /** Lifetime of the access token; null: it does not expire. */
  expiresInMs: number | null;
  /** null: everything. Absent in a renewal: unchanged. */
  grantedScopes?: string[] | null;
};

export type NewConnection = Grant &
  Pick<IntegrationRow, 'accountId' | 'mode' | 'service' | 'attributes' | 'inboundId' | 'redirectUri'> & {
    grantedScopes: string[] | null;
    /** The authorization that led to it; null: none of this service. */
    authorizationId: string | null;
  };

export type Refreshed = Renewed<Grant, ErrorReason>;

export type Checked = { kind: 'checked' };

export type IntegrationContract = {
  commands: {
    /** Connects, or connects again. */
    connect(input: NewConnection): IntegrationRow;
    /** No effect if it is disconnected. */
    disconnect(input: null): null;
    /** Answered when a newer token is stored, or when none is available. At most one renewal runs. */
    needToken(input: TokenNeed): TokenReply;
    /** Stores messages that the service has sent; a repeat changes nothing. */
    receive(input: { messages: InboundMessage[] }): null;
    /** Outcomes of effects. */
    refreshed(input: EffectResult<Refreshed>): null;
    revoked(input: EffectResult<void>): null;
    noted(input: EffectResult<void>): null;
    /** Sent by a timer, daily. */
    check(input: Record<string, never>): null;
    checked(input: EffectResult<Checked>): null;
  };
  queries: {
    get(input: null): IntegrationRow | null;
  };
  effects: {
    refresh(input: Record<string, never>): Refreshed;
    revoke(input: { service: string; tokens: string }): void;
    /** Ends the agents that rely on it. */
    release(input: { accountId: string; message: string }): void;
    /** Wakes the agents that wait for it. */
    announce(input: { accountId: string; service: string; mode: Mode }): void;
    check(input: Record<string, never>): Checked;
  };
};

export const integration = actorRef<IntegrationContract>('integration');

/** The id of an account's connection to a service in a mode. */
export function integrationIdOf(accountId: string, service: string, mode: Mode): string {
  return derivedId(integrationIds.integration, accountId, accountId, service, mode);
}
