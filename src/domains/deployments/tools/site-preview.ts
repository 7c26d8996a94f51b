/** The text of an approval of an agent's deployment, and the check whether it is still valid when the deployment begins. Pure. */
import { createHash } from 'node:crypto';
import type { Mode } from '../../../mode.ts';
import type { DeployConfig } from '../configs/config.ts';
import type { SiteFile } from '../snapshot/site.ts';

/** A deployment as it would be made now. `config` is null for a test key's without configuration. */
export type Planned = {
  mode: Mode;
  workspaceId: string;
  /** The host's name for people. */
  host: string;
  config: DeployConfig | null;
  files: readonly SiteFile[];
};

/** The state that the text describes: the configuration, and names and contents of the files. */
export type Basis = { configId: string | null; files: string };

const maxNames = 20;
const maxNameChars = 100;

export function basisOf({ config, files }: Pick<Planned, 'config' | 'files'>): Basis {
  const hash = createHash('sha256');
  for (const { path, sha256 } of files) hash.update(JSON.stringify([path, sha256]));
  return { configId: config?.id ?? null, files: hash.digest('hex') };
}

/** A few lines: where, with which configuration, which files. */
export function textOf(planned: Planned): string {
  const { mode, workspaceId, host, config, files } = planned;
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const count = files.length === 1 ? '1 file' : `${files.length} files`;
  const what = `${count} (${sizeText(bytes)}) of the workspace ${workspaceId}`;
  const names = files.slice(0, maxNames).map(({ path }) => path.slice(0, maxNameChars));
  const more = files.length > maxNames ? ` and ${files.length - maxNames} more` : '';
  return [
    mode === 'test'
      ? `TEST: makes a preview of ${what}, which this service itself serves; nothing is sent to ${host}.`
      : `Publishes ${what} at ${host}${configText(config)}. Everybody who has the address can read them.`,
    `Files: ${names.join(', ')}${more}.`,
    ...(config?.buildCommand == null ? indexText(planned) : [`Builds them first, with: ${config.buildCommand.slice(0, 500)}`]),
  ].join('\n');
}

/** The reason for another approval; null: the approval is still valid. */
export function changed(approved: unknown, now: Basis): string | null {
  const { configId, files } = approved as Basis;
  if (configId !== now.configId) return 'Another deploy configuration would be used than the one that was approved.';
  return files === now.files ? null : 'The files of the workspace have changed since this was approved.';
}

function configText(config: DeployConfig | null): string {
  if (config === null) return '';
  const project = config.project === null ? '' : `, project ${config.project}`;
  return ` with the configuration ${JSON.stringify(config.name)} (${config.id}${project}${config.url === null ? '' : `, ${config.url}`})`;
}

function indexText({ config, files }: Planned): string[] {
  const folder = config?.outputDir == null || config.outputDir === '.' ? '' : `${config.outputDir}/`;
  return files.some(({ path }) => path === `${folder}index.html`)
    ? []
    : [`There is no ${folder}index.html: the address itself may show nothing.`];
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
