/** Checks the limits of a host before anything is sent to it. */
import type { Host } from '../hosts/host.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { SiteFile } from '../snapshot/site.ts';

/** Throw `DeployFailed`. */
export type SiteChecks = {
  count(files: number): void;
  file(file: Pick<SiteFile, 'path' | 'sizeBytes'>): void;
};

export function siteChecks({ title, limits }: Pick<Host, 'title' | 'limits'>): SiteChecks {
  return {
    count(files) {
      if (files > limits.files)
        throw new DeployFailed('too_many_files', `${title} takes at most ${limits.files} files; there are ${files}`);
    },
    file({ path, sizeBytes }) {
      if (sizeBytes > limits.fileBytes)
        throw new DeployFailed('file_too_large', `${title} takes files of at most ${limits.fileBytes} bytes; ${path} has ${sizeBytes}`);
      const problem = limits.badName?.(path) ?? null;
      if (problem !== null) throw new DeployFailed('bad_name', `${path}: ${problem}`);
    },
  };
}

/** Throws `DeployFailed`. */
export function checkSite(host: Pick<Host, 'title' | 'limits' | 'check'>, files: readonly SiteFile[]): void {
  const checks = siteChecks(host);
  checks.count(files.length);
  for (const file of files) checks.file(file);
  host.check?.(files);
}
