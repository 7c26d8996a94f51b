/** Texts of hosts may repeat what they were sent: no credential is in a log, an event or an error. */
import { minCredentialChars, SecretMask } from '../../../secret-mask.ts';
import type { Host } from './host.ts';
import { DeployFailed } from './host-failure.ts';

const maxMessageChars = 1_000;

export type Mask = (text: string) => string;

export function maskOf(credentials: Readonly<Record<string, string>>): Mask {
  const mask = new SecretMask(Object.values(credentials), minCredentialChars);
  return (text) => mask.text(text);
}

/** The same host, whose messages, log lines and failures are masked and bounded. */
export function masked(host: Host): Host {
  const { find, copies } = host;
  const parts = copies?.parts;
  return {
    ...host,
    ...(find !== undefined && {
      find: (access, deploymentId, signal) => failing(maskOf(access.credentials), () => find(access, deploymentId, signal)),
    }),
    ...(copies !== undefined && {
      copies: {
        ...(parts !== undefined && {
          parts: (access, providerId, signal) => failing(maskOf(access.credentials), () => parts(access, providerId, signal)),
        }),
        list: (access, deploymentId, signal) => failing(maskOf(access.credentials), () => copies.list(access, deploymentId, signal)),
        served: (access, signal) => failing(maskOf(access.credentials), () => copies.served(access, signal)),
        remove: (access, providerId, signal) => failing(maskOf(access.credentials), () => copies.remove(access, providerId, signal)),
      },
    }),
    identify: (access, signal) => failing(maskOf(access.credentials), () => host.identify(access, signal)),
    publish(access, publication) {
      const mask = maskOf(access.credentials);
      const log: typeof publication.log = (text, source) => publication.log(bounded(mask(text)), source);
      return failing(mask, () => host.publish(access, { ...publication, log }));
    },
    async state(access, providerId, signal) {
      const mask = maskOf(access.credentials);
      const state = await failing(mask, () => host.state(access, providerId, signal));
      return state.kind === 'failed' ? { ...state, message: bounded(mask(state.message)) } : state;
    },
    cancel: (access, providerId, signal) => failing(maskOf(access.credentials), () => host.cancel(access, providerId, signal)),
  };
}

async function failing<T>(mask: Mask, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DeployFailed) error.message = bounded(mask(error.message));
    throw error;
  }
}

export function bounded(text: string): string {
  return text.length > maxMessageChars ? `${text.slice(0, maxMessageChars).toWellFormed()}…` : text;
}
