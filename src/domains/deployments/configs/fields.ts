/** Checks of a configuration's fields in addition to their lengths. Each throws `invalid` for its field. */
import { AppError, invalidField } from '../../../errors.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { Target } from '../targets.ts';

/** As it is stored: segments with one slash between them; `.` for the root. It stays within the copy of the workspace. */
export function readOutputDir(given: string): string {
  const at = ['body', 'output_dir'];
  if (/[\p{Cc}\\]/u.test(given) || !given.isWellFormed())
    throw invalidField(at, 'It must not hold control characters or backslashes', 'value_error', given);
  if (given.startsWith('/')) throw invalidField(at, 'It is relative to the workspace: no slash in front', 'value_error', given);
  const segments = given.normalize('NFC').split('/');
  if (segments.includes('..')) throw invalidField(at, 'It must not lead out of the workspace', 'value_error', given);
  return segments.filter((segment) => segment !== '' && segment !== '.').join('/') || '.';
}

/** Projects and teams are parts of paths at hosts. Expo's have the form `@account/slug` too. */
export function checkHostName(field: 'project' | 'team', target: Target, given: string): string {
  const form = target === 'expo' ? /^@?[\w-][\w.-]*(\/[\w-][\w.-]*)?$/ : /^[\w-][\w.-]*$/;
  if (!form.test(given)) throw invalidField(['body', field], 'Letters, digits, hyphens, underscores and dots', 'value_error', given);
  return given;
}

/** An address of the account's own, which is asked for before a deployment counts as live. */
export function readSiteUrl(outbound: Pick<Outbound, 'check'>, given: string): string {
  const at = ['body', 'url'];
  let url: URL;
  try {
    url = new URL(given);
    outbound.check(url.href);
  } catch (error) {
    throw invalidField(at, error instanceof AppError ? error.message : 'Not a web address', 'value_error', given);
  }
  if (url.username !== '' || url.password !== '') throw invalidField(at, 'Give it without a user', 'value_error', null);
  url.hash = '';
  return url.href;
}
