/**
 * The rights of a task and its agents: never more than those of the key or session that created the task. They are recorded at creation, so
 * a later revocation of the key has no effect on them; `POST /tasks/{id}/cancel` cancels such tasks.
 */
import type { Mode } from './mode.ts';
import { type Granted, isGranted, type Scope } from './scopes.ts';

export type Authority = {
  readonly mode: Mode;
  readonly scopes: Granted;
  /** The workspace was made for the task: its files need no scope. */
  readonly ownsWorkspace: boolean;
};

/** The scope that an action needs over REST. null: none. */
export type Need = {
  readonly scope: Scope;
  /** Not needed for files of a workspace that was created for the task. */
  readonly exceptInOwnWorkspace?: true;
} | null;

/** The scopes for reading and writing files of a task's workspace. */
export const readingFiles = { scope: 'workspaces.read', exceptInOwnWorkspace: true } as const satisfies Need;
export const writingFiles = { scope: 'workspaces.write', exceptInOwnWorkspace: true } as const satisfies Need;

/**
 * For tasks that were created before rights were recorded: they keep access to their files, and neither spend nor trade. Also the columns'
 * default (migration 18), for tasks that a node of an older version creates.
 */
export const unrecordedScopes: readonly Scope[] = ['workspaces.read', 'workspaces.write'];

/** The missing scope for an action; null if it is allowed. */
export function missingScope({ scopes, ownsWorkspace }: Authority, need: Need): Scope | null {
  if (need === null || (need.exceptInOwnWorkspace && ownsWorkspace)) return null;
  return isGranted(scopes, need.scope) ? null : need.scope;
}

/** The error text for an agent whose call is not allowed. */
export function notAllowed(tool: string, scope: string): string {
  return `${tool} is not allowed here: it needs the scope ${scope}, which was not granted. Nothing was done. Do not try to reach the same in another way; say in your result what was not done, and why.`;
}
