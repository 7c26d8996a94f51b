/** Why a call at a service failed, in five kinds that a model can act on. */
import { ToolError } from '../../../errors.ts';

export type ServiceFailure =
  | { type: 'rate_limited'; message: string; retryAt: string | null }
  | { type: 'not_found'; message: string }
  | { type: 'forbidden'; message: string; scope: string | null }
  | { type: 'invalid'; message: string; field: string | null }
  | { type: 'unavailable'; message: string };

/** `message` is shown to the model: the service's own message, without secrets. */
export class ServiceFailed extends ToolError {
  override name = 'ServiceFailed';
  readonly failure: ServiceFailure;
  constructor(failure: ServiceFailure) {
    super(failure.message, { details: detailsOf(failure) });
    this.failure = failure;
  }
}

/** The text for a model, besides the message. */
function detailsOf(failure: ServiceFailure): Record<string, unknown> {
  const { type } = failure;
  if (type === 'rate_limited') return { type, ...(failure.retryAt !== null && { retry_at: failure.retryAt }) };
  if (type === 'forbidden') return { type, ...(failure.scope !== null && { scope: failure.scope }) };
  if (type === 'invalid') return { type, ...(failure.field !== null && { field: failure.field }) };
  return { type };
}
