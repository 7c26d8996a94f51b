/** The address of the service that a command uses, and the token. */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { withoutTrailing } from '../trailing.ts';
import { type Client, createClient, isLoopback } from './client.ts';
import { Failure } from './failure.ts';
import { ownAccountClient } from './own-account.ts';

/** From the command line; null: not given. */
export type ServiceOptions = { url: string | null; token: string | null };

/** Without a token a service on this machine gets an account of its own for the caller. Throws `Failure`. */
export async function serviceClient(
  options: ServiceOptions,
  config: Config,
  notice: (line: string) => void,
  signal: AbortSignal,
): Promise<Client> {
  const url = serviceUrlOf(options, config);
  const clientFor = (token: string | null) => createClient({ url, token, signal, notice });
  const token = options.token ?? config.token;
  if (token !== null) return clientFor(token);
  if (isLoopback(url)) return ownAccountClient({ path: join(config.dataDir, 'cli.json'), clientFor, notice });
  throw new Failure('usage', `${url} is not on this machine, so a token is required: pass --token or set TROUPE_TOKEN`);
}

/** Where the command finds the service, without a slash at its end. */
export function serviceUrlOf({ url }: Pick<ServiceOptions, 'url'>, config: Config): string {
  return url ?? withoutTrailing(config.publicUrl ?? ownUrl(config), '/');
}

/** Where `npm start` with the same settings listens. */
function ownUrl({ host, port }: Config): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port === 0 ? 8080 : port}`;
}
