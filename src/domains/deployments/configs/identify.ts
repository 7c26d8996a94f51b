/** Checks the credentials of a new configuration at its host. */
import type { Clock } from '../../../clock.ts';
import { invalidField } from '../../../errors.ts';
import type { HostCallParts } from '../hosts/calls.ts';
import type { FindHost } from '../hosts/catalogue.ts';
import type { HostCalls } from '../hosts/host.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { Target } from '../targets.ts';
import { accessOf } from './access.ts';
import type { DeployConfig } from './config.ts';
import type { Credentials } from './credentials.ts';

/** Calls of a host for an account. */
export type OpenCalls = (caller: {
  target: Target;
  /** Of the configuration. */
  project: string | null;
  accountId: string;
  /** Masked in every text of the host. */
  credentials: Credentials;
  /** Between attempts, in place of the time that it takes. */
  pause?: HostCallParts['pause'];
}) => HostCalls;

export type IdentifyParts = { findHost: FindHost; openCalls: OpenCalls; clock: Clock };

/** The caller waits for it. */
const withinMs = 8_000;

/**
 * When it was found that the host takes them; null where the host could not be asked: the next deployment shows it. Throws `invalid` with the host's text
 * where it does not take them.
 */
export async function identify(
  { findHost, openCalls, clock }: IdentifyParts,
  accountId: string,
  config: DeployConfig,
  credentials: Credentials,
): Promise<number | null> {
  const { target, project } = config;
  const host = findHost({ target, projectGiven: project !== null });
  const calls = openCalls({ target, project, accountId, credentials, pause: noSecondAttempt });
  const signal = AbortSignal.timeout(withinMs);
  try {
    await host.identify(accessOf(config, credentials, calls), signal);
    return clock.nowMs();
  } catch (error) {
    if (error instanceof DeployFailed && error.code === 'auth')
      throw invalidField(['body', 'credentials'], `${host.title} does not take these credentials: ${error.message}`, 'credentials_refused');
    if (error instanceof DeployFailed || signal.aborted) return null;
    throw error;
  }
}

/** The caller waits: a host that is down is asked once. */
async function noSecondAttempt(): Promise<never> {
  throw new DeployFailed('provider_down', 'The host did not answer at once');
}
