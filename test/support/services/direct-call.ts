/** A simple call at a stand-in: without waits for limits and without retries. It tests only the code of the service itself. */
import { machineClock } from '../../../src/clock.ts';
import type { ReceivedMessage, Service, ServiceCall, ServiceRequest } from '../../../src/domains/integrations/services/service.ts';
import { ServiceFailed, type ServiceFailure } from '../../../src/domains/integrations/services/service-failure.ts';

export type DirectOptions = {
  apiUrl: string;
  token: string;
  callId?: string;
  isRepeat?: boolean;
  attributes?: Record<string, string>;
  received?: ReceivedMessage[];
};

export function directCall(service: Service, options: DirectOptions): ServiceCall {
  const { apiUrl, token, callId = 'call-1', isRepeat = false, attributes = {}, received = [] } = options;
  return {
    accountId: 'acct_1',
    integrationId: 'int_1',
    callId,
    isRepeat,
    attributes,
    clock: machineClock,
    async request(request) {
      const response = await send(service, apiUrl, token, request);
      const text = await response.text();
      const answer = {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: text === '' ? null : JSON.parse(text),
      };
      if (request.accept?.includes(answer.status)) return answer;
      const failure = service.failureIn?.(answer, machineClock.nowMs());
      if (failure !== undefined) throw new ServiceFailed(failure);
      if (!response.ok) throw new ServiceFailed(failureOf(answer.status));
      return answer;
    },
    received: ({ from, limit }) => Promise.resolve(received.filter((message) => from === null || message.from === from).slice(0, limit)),
  };
}

async function send(service: Service, apiUrl: string, token: string, { method, path, query, headers, json, form }: ServiceRequest) {
  const url = new URL(apiUrl + path);
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) url.searchParams.set(name, String(value));
  const body = json !== undefined ? JSON.stringify(json) : form !== undefined ? new URLSearchParams(form).toString() : undefined;
  const type = json !== undefined ? 'application/json' : form !== undefined ? 'application/x-www-form-urlencoded' : undefined;
  const own = { ...service.headers, ...headers, authorization: `Bearer ${token}`, ...(type !== undefined && { 'content-type': type }) };
  return fetch(url, { method, headers: own, body }).catch((cause: unknown) => {
    throw new ServiceFailed({ type: 'unavailable', message: `No answer: ${cause}` });
  });
}

function failureOf(status: number): ServiceFailure {
  const message = `Status ${status}`;
  if (status === 404) return { type: 'not_found', message };
  if (status === 401 || status === 403) return { type: 'forbidden', message, scope: null };
  if (status === 429) return { type: 'rate_limited', message, retryAt: null };
  return status >= 500 ? { type: 'unavailable', message } : { type: 'invalid', message, field: null };
}
