/** What a host would refuse, found before anything is sent to it. */
import type { Host } from '../hosts/host.ts';
import { DeployFailed } from '../hosts/host-failure.ts';
import type { SiteFile } from '../snapshot/site.ts';

/** Throws `DeployFailed`. */
export function checkSite(host: Pick<Host, 'title' | 'limits' | 'check'>, files: readonly SiteFile[]): void {
  const { title, limits } = host;
  if (files.length > limits.files)
    throw new DeployFailed('too_many_files', `${title} takes at most ${limits.files} files; there are ${files.length}`);
  for (const { path, sizeBytes } of files) {
    if (sizeBytes > limits.fileBytes)
      throw new DeployFailed('file_too_large', `${title} takes files of at most ${limits.fileBytes} bytes; ${path} has ${sizeBytes}`);
    const problem = limits.badName?.(path) ?? null;
    if (problem !== null) throw new DeployFailed('bad_name', `${path}: ${problem}`);
  }
  host.check?.(files);
}
