/** Links that download one file without an Authorization header, for an hour. */

import type { Principal } from '../../../edge/auth/principal.ts';
import type { Tokens } from '../../../edge/auth/tokens.ts';
import { withoutTrailing } from '../../../trailing.ts';

export type DownloadLinks = {
  /** @param path without the /v1 prefix, as in the URL */
  to(path: string, principal: Principal, scope: string): Promise<string>;
};

/** For a person whose browser has opened a link that does not work. */
export const linkAdvice = 'A link to a file is valid for an hour: go back to where it was shown, and open the new one.';

/** @param publicUrl the base URL of links */
export function createDownloadLinks(tokens: Pick<Tokens, 'downloadToken'>, publicUrl: () => string): DownloadLinks {
  return {
    async to(path, { accountId, userId }, scope) {
      const token = await tokens.downloadToken({ accountId, userId, path, scope });
      return `${withoutTrailing(publicUrl(), '/')}/v1${path}?token=${token}`;
    },
  };
}
