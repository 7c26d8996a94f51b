/** Messages that a service sent to its inbound endpoint. */
import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { epochMs } from '../../../storage/column-types.ts';

export const ReceivedMessageEntry = defineEntity({
  name: 'ReceivedMessageEntry',
  tableName: 'received_message',
  properties: {
    /** The service's id, besides the connection's: a repeated delivery is the same row. */
    messageId: p.text().primary(),
    integrationId: p.text().primary(),
    accountId: p.text(),
    sender: p.text(),
    text: p.text(),
    /** When it was sent. */
    sentAt: epochMs(),
    receivedAt: epochMs(),
  },
});
export type ReceivedMessageRow = InferEntity<typeof ReceivedMessageEntry>;
