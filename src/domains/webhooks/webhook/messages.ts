/** Commands and queries of a webhook. Its secret is passed encrypted. */

import { actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { Disabled } from './disabled-notice.ts';
import type { WebhookDeliveryRow, WebhookRow } from './entity.ts';
import type { SavedQueue } from './ordered-queues.ts';

export type CreateWebhook = {
  accountId: string;
  /** The mode of the events it gets, of those that have one. */
  mode: Mode;
  userId: string;
  url: string;
  events: string[];
  secret: string;
  /** The account's newest event: later ones are delivered. */
  cursor: number;
};

export type ChangeWebhook = {
  url?: string;
  events?: string[];
  status?: 'active' | 'disabled';
  /** The position when it becomes active: the account's newest event. */
  cursor: number;
};

/** A delivery that waits for its retry. */
export type Challenge = { id: string; run: number; attempts: number; createdAt: number };

export type DeliveryRecord = Omit<WebhookDeliveryRow, 'webhookId'>;

/** A dispatcher's work since its last report; valid independently of earlier reports. */
export type Progress = {
  run: number;
  cursor: number;
  lanes: SavedQueue[];
  deliveries: DeliveryRecord[];
  /** Deliveries requested by hand that have been tried. */
  tried: string[];
  /** null: it continues. */
  disable: 'failing' | 'gone' | null;
};

/** The event that an address must answer with 2xx before it gets others, and one that is requested by hand; either is enough. */
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
    /** Refused with `not_found`, like all commands below, if there is no webhook. */
    change(input: ChangeWebhook): WebhookRow;
    remove(input: null): null;
    /** Each earlier secret also signs for a day. Refused with `conflict` while too many do. */
    rotateSecret(input: { secret: string }): WebhookRow;
    /** Delivers a test event, once. Refused with `conflict` while too many wait. */
    test(input: null): DeliveryRecord;
    /** Delivers the event of this record again, once. */
    replay(input: DeliveryRecord): DeliveryRecord;
    /** Reported by its dispatcher. Returns whether it was accepted: not if the webhook has been restarted since. */
    settle(input: Progress): boolean;
    /** By timer: the challenge that was not answered with 2xx is sent again. */
    challenge(input: Challenge): null;
    /** Outcomes of its effects. */
    noted(input: EffectResult): null;
    /** By timer: the notice that it was disabled could not be sent. */
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
