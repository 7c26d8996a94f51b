/** Why a deployment failed, as callers see it. */
export const failureCodes = [
  'auth',
  'quota',
  'rate_limited',
  'too_many_files',
  'file_too_large',
  'bad_name',
  'build_failed',
  'alias_failed',
  'provider_down',
  'probe_failed',
  'timed_out',
  'cancelled',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** A step of a deployment cannot succeed. `message`: the host's own text where there is one, without secrets. */
export class DeployFailed extends Error {
  override name = 'DeployFailed';
  readonly code: FailureCode;
  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
