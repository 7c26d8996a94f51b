/** Expo, experimental. */
import type { Host } from './host.ts';
import { DeployFailed } from './host-failure.ts';

const refuse = () => Promise.reject(new DeployFailed('provider_down', 'Expo cannot be published at yet'));

export const expo: Host = {
  target: 'expo',
  title: 'Expo',
  credentials: ['token'],
  limits: { files: 20_000, fileBytes: 100 * 2 ** 20 },
  identify: refuse,
  publish: refuse,
  state: refuse,
  cancel: async () => {},
};
