/** Credentials of hosts: their fields, and encrypted at rest, so that those of one configuration can be read for it alone. */
import { AppError, type Issue } from '../../../errors.ts';
import { type SealedBox, sealedBox } from '../../../storage/sealed-box.ts';
import { SecretError } from '../../../storage/secrets.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { Target } from '../targets.ts';
import type { DeployConfig } from './config.ts';

export type Credentials = Readonly<Record<string, string>>;

/** Bound to the id of the configuration. */
export type CredentialBox = SealedBox<Credentials>;

export const credentialBox = (secretKey: string, acceptedKeys?: readonly string[]): CredentialBox =>
  sealedBox('deploy credentials', secretKey, acceptedKeys);

export const credentialFields = {
  vercel: ['token'],
  netlify: ['token'],
  cloudflare: ['token', 'account_id'],
  expo: ['token'],
} as const satisfies Record<Target, readonly string[]>;

/** They are sent in headers and in paths. */
const sendable = { token: /^[\x21-\x7e]{1,8192}$/, account_id: /^[\w-]{1,64}$/ } as const;

/** The fields of the target; others are dropped. Throws `invalid` for each that is missing or cannot be sent; no value is in an error. */
export function readCredentials(target: Target, given: Readonly<Record<string, string>>): Credentials {
  const fields = credentialFields[target];
  const issue = (field: string, msg: string, type: string): Issue => ({
    loc: ['body', 'credentials', field],
    msg,
    type,
    input: null,
    ctx: {},
  });
  const issues = fields.flatMap((field) => {
    if (!Object.hasOwn(given, field)) return [issue(field, 'Field required', 'missing')];
    return sendable[field].test(given[field]!) ? [] : [issue(field, 'It holds characters that cannot be sent', 'value_error')];
  });
  if (issues.length > 0) throw new AppError('invalid', `Credentials of ${target}: ${fields.join(', ')}`, { issues });
  return Object.fromEntries(fields.map((field) => [field, given[field]!]));
}

/** Those of a configuration. Throws `DeployFailed` where they cannot be read any more. */
export function openCredentials(box: CredentialBox, { id, credentials }: Pick<DeployConfig, 'id' | 'credentials'>): Credentials {
  try {
    return box.open(credentials, id);
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    throw new DeployFailed('auth', 'The stored credentials cannot be read since SECRET_KEY was changed: make the configuration again', {
      cause,
    });
  }
}
