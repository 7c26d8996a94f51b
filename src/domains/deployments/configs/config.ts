/** A deploy configuration: where and how an account publishes. */
import type { Mode } from '../../../mode.ts';
import type { Target } from '../targets.ts';

export type DeployConfig = {
  id: string;
  /** Of the key that made it. One of test mode serves deployments of test mode alone; one of live mode serves both. */
  mode: Mode;
  name: string;
  target: Target;
  buildCommand: string | null;
  outputDir: string | null;
  project: string | null;
  team: string | null;
  /** The account's own address of the site, which is probed and returned in place of the host's. */
  url: string | null;
  /** Encrypted, bound to the id: `Record<string, string>`. */
  credentials: string;
  /** Values of the host that belong to it, such as a site id. */
  kept: Record<string, string>;
  /** null: the host could not be reached when it was made. */
  verifiedAt: number | null;
  createdAt: number;
};
