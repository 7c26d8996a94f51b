/**
 * What a task and its agents may do: what the key or session that made the task may do, never more. It is recorded when the task is made, so
 * revoking the key later changes nothing; its tasks are cancelled by `POST /tasks/{id}/cancel`.
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
  /** Not needed for files of a workspace that was made for the task. */
  readonly exceptInOwnWorkspace?: true;
} | null;

/** The scopes for reading and writing files of a task's workspace. */
export const readingFiles = { scope: 'workspaces.read', exceptInOwnWorkspace: true } as const satisfies Need;
export const writingFiles = { scope: 'workspaces.write', exceptInOwnWorkspace: true } as const satisfies Need;

/**
 * Tasks that were made before authority was recorded: they continue with the files they were given, and neither spend nor trade. Also the
 * columns' default (migration 18), for tasks that a node of an older version makes.
 */
export const unrecordedScopes: readonly Scope[] = ['workspaces.read', 'workspaces.write'];

/** The scope that is missing for an action; null where it is allowed. */
export function missingScope({ scopes, ownsWorkspace }: Authority, need: Need): Scope | null {
  if (need === null || (need.exceptInOwnWorkspace && ownsWorkspace)) return null;
  return isGranted(scopes, need.scope) ? null : need.scope;
}

/** What an agent is told of a call that it may not make. */
export function notAllowed(tool: string, scope: string): string {
  return `${tool} is not allowed here: it needs the scope ${scope}, which was not granted. Nothing was done. Do not try to reach the same in another way; say in your result what was not done, and why.`;
}
