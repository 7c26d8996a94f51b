/** Requests at services on behalf of connections: what all services have in common. */
import type { ServiceCall } from './service.ts';

/** One tool call, or one check, of a connection. */
export type CallOf = {
  integrationId: string;
  /** The same for every try of the call. */
  callId: string;
  /** An earlier try may have reached the service. */
  isRepeat: boolean;
  signal: AbortSignal;
};

export interface ServiceCalls {
  /** Throws `ServiceFailed` where there is no usable connection. */
  open(call: CallOf): Promise<ServiceCall>;
}
