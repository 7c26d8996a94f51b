/** Commands and queries of a webhook. Its secret comes and goes encrypted. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { Disabled } from './disabled-notice.ts';
import type { WebhookDeliveryRow, WebhookRow } from './entity.ts';
import type { SavedQueue } from './ordered-queues.ts';

export type CreateWebhook = {
  accountId: string;
  /** Whose events it gets, of those that have a mode. */
  mode: Mode;
  userId: string;
  url: string;
  events: string[];
  secret: string;
  /** The account's newest event: those after it are delivered. */
  cursor: number;
};

export type ChangeWebhook = {
  url?: string;
  events?: string[];
  status?: 'active' | 'disabled';
  /** Where it begins when it becomes active: the account's newest event. */
  cursor: number;
};

/** One that waits to be sent again. */
export type Challenge = { id: string; run: number; attempts: number; createdAt: number };

export type DeliveryRecord = Omit<WebhookDeliveryRow, 'webhookId'>;

/** What a dispatcher has done since it told last; true by itself, whatever was told before. */
export type Progress = {
  run: number;
  cursor: number;
  lanes: SavedQueue[];
  deliveries: DeliveryRecord[];
  /** Deliveries asked for by a person that have been tried. */
  tried: string[];
  /** null: it goes on. */
  disable: 'failing' | 'gone' | null;
};

/** The event that an address must answer with 2xx before it is sent others, and one that a person asks for; either will do. */
export const challengeType = 'webhook.challenge';
export const testType = 'webhook.test';

/** Its events are delivered. */
export function isDelivering({ status, url, verifiedUrl }: Pick<WebhookRow, 'status' | 'url' | 'verifiedUrl'>): boolean {
  return status === 'active' && url === verifiedUrl;
}

export type WebhookContract = {
  commands: {
    /** Sends the address a challenge. Repeating it changes nothing. */
    create(input: CreateWebhook): WebhookRow;
    /** Refused with `not_found` like all that follow, where there is none. */
    change(input: ChangeWebhook): WebhookRow;
    remove(input: null): null;
    /** The secret so far signs beside the new one for a day. */
    rotateSecret(input: { secret: string }): WebhookRow;
    /** Delivers a test event, once. Refused with `conflict` while too many wait. */
    test(input: null): DeliveryRecord;
    /** Delivers the event of this record again, once. */
    replay(input: DeliveryRecord): DeliveryRecord;
    /** Told by its dispatcher. Says whether it was taken: not where the webhook has begun anew since. */
    settle(input: Progress): boolean;
    /** Its timer: the challenge that was not answered with 2xx is sent again. */
    challenge(input: Challenge): null;
    /** Outcomes of its effects. */
    noted(input: EffectResult): null;
    /** Its timer: the mail that says that it was disabled could not be sent. */
    tellAgain(input: Required<Disabled>): null;
  };
  queries: {
    /** null: there is none. */
    get(input: null): WebhookRow | null;
  };
  effects: {
    tellUser(input: Disabled): unknown;
    wake(input: Record<string, never>): unknown;
  };
};

export const webhook = actorRef<WebhookContract>('webhook');
