/**
 * Pending consents, for routes. A state is the id of an authorization and a secret, so that a state cannot be guessed from another one; the
 * PKCE verifier never leaves this service before the code is exchanged.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import { newId } from '../../../ids.ts';
import type { Mode } from '../../../mode.ts';
import { SecretError, Secrets } from '../../../storage/secrets.ts';
import { integrationIds } from '../ids.ts';
import { pkcePair, randomState } from '../oauth/token-endpoint.ts';
import type { AuthorizationRow } from './entity.ts';
import { type AuthorizationUser, authorization } from './messages.ts';

const purpose = 'service authorization';

export type ConsentRequest = {
  accountId: string;
  mode: Mode;
  target: string;
  redirectUri: string | null;
  scopes: string[];
  facts?: Record<string, string>;
  /** The value of `markBrowser`; null: begun by a program, or for a person elsewhere. */
  browser: string | null;
};

/** A consent with which the browser may return. `isBrowser`: whether this value is that of the browser that began it. */
export type AwaitedConsent = { row: AuthorizationRow; isBrowser(browser: string | null): boolean };

/** A consent whose code may be exchanged. */
export type TakenConsent = { id: string; verifier: string; row: AuthorizationRow };

/** `browserHash`: absent where no browser is known, and in consents that a version before this one began. */
type Hidden = { verifier: string; stateHash: string; browserHash?: string };

export class Authorizations {
  private readonly actors: Pick<ActorSystem, 'ask' | 'query'>;
  private readonly clock: Clock;
  private readonly secrets: Secrets;

  constructor({
    actors,
    clock,
    secretKey,
    acceptedKeys,
  }: { actors: Pick<ActorSystem, 'ask' | 'query'>; clock: Clock; secretKey: string; acceptedKeys: readonly string[] }) {
    this.actors = actors;
    this.clock = clock;
    this.secrets = new Secrets(secretKey, acceptedKeys);
  }

  async begin({ facts = {}, browser, ...request }: ConsentRequest): Promise<{ state: string; challenge: string }> {
    const id = newId(integrationIds.authorization, request.accountId, this.clock.nowMs());
    const secret = randomState();
    const { verifier, challenge } = await pkcePair();
    const hidden: Hidden = { verifier, stateHash: hashOf(secret), ...(browser !== null && { browserHash: hashOf(browser) }) };
    const secrets = this.secrets.encrypt(purpose, JSON.stringify(hidden), id);
    await this.actors.ask(authorization, id, 'begin', { ...request, facts, secrets });
    return { state: `${id}.${secret}`, challenge };
  }

  /** Changes nothing. null: the state is unknown, expired, or was returned before. */
  async awaited(state: string): Promise<AwaitedConsent | null> {
    const known = await this.known(state);
    if (known === null) return null;
    const { row, browserHash } = known;
    if (row.usedAt !== null || row.returnedAt !== null || row.expiresAt <= this.clock.nowMs()) return null;
    return { row, isBrowser: (browser) => browser !== null && browserHash !== undefined && isSame(browserHash, hashOf(browser)) };
  }

  /** The browser returned with this state. null: it is unknown, expired, or was returned before. */
  async returned(state: string): Promise<AuthorizationRow | null> {
    const known = await this.known(state);
    return known === null ? null : this.actors.ask(authorization, known.id, 'returned', null);
  }

  /** Reserves the consent for one exchange; afterwards `giveBack` or `used`. null: the state cannot be used. */
  async take(state: string, user: AuthorizationUser): Promise<TakenConsent | null> {
    const known = await this.known(state);
    if (known === null) return null;
    const row = await this.actors.ask(authorization, known.id, 'take', user);
    return row === null ? null : { id: known.id, verifier: known.verifier, row };
  }

  async giveBack(id: string): Promise<void> {
    await this.actors.ask(authorization, id, 'giveBack', null);
  }

  async used(id: string): Promise<void> {
    await this.actors.ask(authorization, id, 'used', {});
  }

  private async known(
    state: string,
  ): Promise<{ id: string; verifier: string; browserHash: string | undefined; row: AuthorizationRow } | null> {
    const [id = '', secret = '', ...rest] = state.split('.');
    if (!/^aut_[0-9a-z]{26}$/.test(id) || secret === '' || rest.length > 0) return null;
    const row = await this.actors.query(authorization, id, 'get', null);
    if (row === null || row.secrets === '') return null;
    const hidden = this.opened(row);
    if (hidden === null || !isSame(hidden.stateHash, hashOf(secret))) return null;
    return { id, verifier: hidden.verifier, browserHash: hidden.browserHash, row };
  }

  private opened({ secrets, id }: AuthorizationRow): Hidden | null {
    try {
      return JSON.parse(this.secrets.decrypt(purpose, secrets, id)) as Hidden;
    } catch (error) {
      if (error instanceof SecretError) return null;
      throw error;
    }
  }
}

function isSame(hash: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hash), Buffer.from(other));
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
