/**
 * The account of a user of this machine without an account: registered on first use; its API key is stored in DATA_DIR/cli.json for each
 * service, readable only by this user. Only for a service on this machine; elsewhere users bring an account.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from './client.ts';
import { Failure } from './failure.ts';

type KeptAccount = { email: string; api_key: string };
type Kept = { services: Record<string, KeptAccount> };

/** The rights that `troupe run` uses; agents buy and trade what a prompt orders, after the person at the terminal has approved it. */
const scopes = ['tasks', 'agents', 'workspaces', 'commerce', 'trading'].flatMap((about) => [`${about}.read`, `${about}.write`]);

export type OwnAccountParts = {
  path: string;
  /** A client of the service with this token. */
  clientFor(token: string | null): Client;
  notice(line: string): void;
};

/** A client with the account's key; registers the account if there is none, or if the service no longer has it. Throws `Failure`. */
export async function ownAccountClient({ path, clientFor, notice }: OwnAccountParts): Promise<Client> {
  const anonymous = clientFor(null);
  const { url } = anonymous;
  const known = (await readStored(path)).services[url];
  if (known !== undefined) {
    const client = clientFor(known.api_key);
    if (await accepts(client)) return client;
    notice(`${url} does not know the account ${known.email} any more, so its tasks cannot be shown. Creating a new account.`);
  }
  const made = await register(anonymous, clientFor);
  await keep(path, url, made);
  notice(`Created the account ${made.email} on ${url}; its API key is stored in ${path}`);
  return clientFor(made.api_key);
}

async function accepts(client: Client): Promise<boolean> {
  try {
    await client.request('GET', '/v1/auth/me');
    return true;
  } catch (error) {
    if (error instanceof Failure && error.status === 401) return false;
    throw error;
  }
}

async function register(anonymous: Client, clientFor: (token: string) => Client): Promise<KeptAccount> {
  const email = `cli-${randomBytes(8).toString('hex')}@localhost.localdomain`;
  // The password is not kept: the key is enough for the commands, and a lost key means a new account.
  const password = randomBytes(24).toString('base64url');
  const json = { email, password, name: 'Command line' };
  const { access_token: session } = await anonymous.request<{ access_token: string }>('POST', '/v1/auth/register', { json });
  const { key } = await clientFor(session).request<{ key: string }>('POST', '/v1/api-keys', { json: { name: 'Command line', scopes } });
  return { email, api_key: key };
}

async function readStored(path: string): Promise<Kept> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { services: {} };
    throw new Failure('usage', `${path} cannot be read (${(error as NodeJS.ErrnoException).code}): pass --token, or set another DATA_DIR`);
  }
  try {
    const { services } = JSON.parse(text) as Partial<Kept>;
    if (Object.values(services!).every((one) => typeof one.email === 'string' && typeof one.api_key === 'string'))
      return { services: services! };
  } catch {
    // Reported below, like any other unusable content.
  }
  throw new Failure('usage', `${path} is damaged: remove the file; the next command creates a new account`);
}

/** Replaces the file atomically, so that no reader and no crash sees a part of it. */
async function keep(path: string, url: string, account: KeptAccount): Promise<void> {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const { services } = await readStored(path);
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ services: { ...services, [url]: account } }, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => {});
    if (error instanceof Failure) throw error;
    throw new Failure(
      'usage',
      `The account's API key cannot be stored in ${path} (${(error as NodeJS.ErrnoException).code}): pass --token, or set another DATA_DIR`,
    );
  }
}
