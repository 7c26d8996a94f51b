/** A deploy configuration: where and how an account publishes. */
import type { Target } from '../targets.ts';

export type DeployConfig = {
  id: string;
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
  /** What the host has named for it, such as a site id. */
  kept: Record<string, string>;
  /** null: the host could not be reached when it was made. */
  verifiedAt: number | null;
  createdAt: number;
};
