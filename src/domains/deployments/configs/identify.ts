/** Whether a host takes the credentials of a new configuration. */
import type { Clock } from '../../../clock.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { FindHost } from '../hosts/catalogue.ts';
import type { HostCalls } from '../hosts/host.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { Target } from '../targets.ts';
import { accessOf } from './access.ts';
import type { DeployConfig } from './config.ts';
import type { Credentials } from './credentials.ts';

/** Calls of a host for an account. @param credentials are masked in whatever the host says */
export type OpenCalls = (caller: { target: Target; accountId: string; credentials: Credentials }) => HostCalls;

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
  const calls = openCalls({ target, accountId, credentials });
  const signal = AbortSignal.timeout(withinMs);
  try {
    await host.identify(accessOf(config, credentials, calls), signal);
    return clock.nowMs();
  } catch (error) {
    if (error instanceof DeployFailed && error.code === 'auth')
      throw invalidField(['body', 'credentials'], `${host.title} does not take these credentials: ${error.message}`, 'credentials_refused');
    const isNoAnswer = error instanceof DeployFailed || error instanceof AppError || signal.aborted;
    if (!isNoAnswer) throw error;
    return null;
  }
}
