/** The API reference's chapters on webhooks, with examples. */
import { exampleId } from '../../edge/http/examples.ts';
import type { ReferencePart } from '../../edge/http/reference-part.ts';

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});

const sent = {
  event: {
    post: {
      operationId: 'receiveEvent',
      tags: ['Webhooks'],
      summary: 'An event, as it is sent to a webhook',
      description: 'Answer any 2xx within 10 seconds and do the work afterwards. Any other response is retried, for 24 hours.',
      security: [],
      parameters: [
        header('X-Troupe-Signature', 'HMAC-SHA256 of `t`, a full stop and the body', 't=1772357400,v1=5f2b0c6e'),
        header('webhook-id', 'The same for every try', exampleId('evt_')),
        header('webhook-timestamp', 'Seconds since 1970', '1772357400'),
        header('webhook-signature', 'As Standard Webhooks has it', 'v1,XytsDGuZ7Ww='),
      ],
      requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Event' } } } },
      responses: { '2XX': { description: 'Taken' }, 410: { description: 'Disables the webhook' } },
    },
  },
};

export const webhooksApi: ReferencePart = {
  chapters: [
    {
      name: 'Webhooks',
      paths: ['/api-keys/webhooks'],
      description: 'Events sent by POST to an address of yours, and the results of their deliveries.',
    },
  ],
  examples: {
    '/api-keys/webhooks/{id}': exampleId('wh_'),
    '/api-keys/webhooks/{id}/deliveries/{delivery}': exampleId('whd_'),
    'Webhook.id': exampleId('wh_'),
    'CreatedWebhook.id': exampleId('wh_'),
    'Delivery.id': exampleId('whd_'),
    disabled_reason: null,
    event_type: 'task.completed',
    events: ['task.completed', 'approval.required'],
    next_attempt_at: null,
    response_body: 'ok',
    response_status: 200,
    secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    url: 'https://example.com/hooks/troupe',
  },
  webhooks: sent,
};
