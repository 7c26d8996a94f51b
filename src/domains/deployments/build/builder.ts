/** The port of builds: a command that makes a site out of a workspace's files, in a child process with limits. */
import type { SiteChecks } from '../deployment/check-site.ts';
import type { Snapshot } from '../snapshot/site.ts';

export type BuildJob = {
  deploymentId: string;
  accountId: string;
  workspaceId: string;
  /** The files that the build starts from. */
  snapshotId: string;
  command: string;
  /** Relative to the copy of the workspace; null: the first of dist, build, out, public that is there afterwards. */
  outputDir: string | null;
  /** Of the host: asked for the files of the output before their contents are stored. */
  checks?: SiteChecks;
  /** Awaited before each read of a file. Absent: reads do not wait. */
  turn?(): Promise<void>;
  /** Lines of its output, in order, with secrets masked. Must not throw. */
  log(lines: string[]): void;
  signal: AbortSignal;
};

export interface Builder {
  /** The reason why this node does not build (BUILDS=off, or a missing feature of the machine); null: it builds. */
  refusal(): Promise<string | null>;
  /** The output as a snapshot. Throws `DeployFailed` (build_failed, timed_out, bad_name, too_many_files) or the reason of the signal. When it settles no process and no folder of it is left. */
  build(job: BuildJob): Promise<Snapshot>;
  stop(): Promise<void>;
}
