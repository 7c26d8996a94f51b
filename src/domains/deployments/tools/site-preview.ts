/** What a person reads before deciding about a deployment of an agent, and whether it still holds when the deployment begins. Pure. */
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

/** What the text rests on: the configuration, and names and contents of the files. */
export type Basis = { configId: string | null; files: string };

const mostNames = 20;
const longestName = 100;

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
  const names = files.slice(0, mostNames).map(({ path }) => path.slice(0, longestName));
  const more = files.length > mostNames ? ` and ${files.length - mostNames} more` : '';
  return [
    mode === 'test'
      ? `TEST: makes a preview of ${what}, which this service itself serves; nothing is sent to ${host}.`
      : `Publishes ${what} at ${host}${configText(config)}. Everybody who has the address can read them.`,
    `Files: ${names.join(', ')}${more}.`,
    ...(config?.buildCommand == null ? indexText(planned) : [`Builds them first, with: ${config.buildCommand.slice(0, 500)}`]),
  ].join('\n');
}

/** Why a person decides again; null: what was approved still holds. */
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
