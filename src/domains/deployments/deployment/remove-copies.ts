/**
 * A creation whose answer was lost may be carried out after the search for it: then the host has the deployment twice. Some time later one of them stays:
 * the one that visitors see, else the one that is known here. The files are the same. Where a deployment has several ids, each with a part of it, an id with a part
 * that no kept id has is kept too.
 */
import type { Host, HostAccess } from '../hosts/host.ts';
import type { DeploymentRow } from './entity.ts';
import type { CopiesRemoved } from './messages.ts';

/** Safe to repeat: a removed copy is not found again. */
export async function removeCopies(
  { copies, state, cancel }: Host,
  access: HostAccess,
  { id, providerId }: Pick<DeploymentRow, 'id' | 'providerId'>,
  signal: AbortSignal,
): Promise<CopiesRemoved> {
  const there = copies === undefined ? [] : await copies.list(access, id, signal);
  // One deployment may have several ids at the host.
  const own = providerId?.split(',') ?? [];
  const others = there.filter((one) => !own.includes(one));
  if (copies === undefined || others.length === 0) return { kind: 'looked', kept: providerId, removed: [] };
  const states = await Promise.all(there.map((one) => state(access, one, signal)));
  // Read last: a copy that was live before and is not served now is not served later.
  const served = await copies.served(access, signal);
  let kept = served !== null && others.includes(served) ? served : providerId;
  const partsOf = (one: string) => copies.parts?.(access, one, signal) ?? [];
  const keptParts = new Set((await Promise.all((kept?.split(',') ?? []).map(partsOf))).flat());
  // What was kept may be gone: cancelled, or deleted by a person. Then nothing of the deployment is meant to stay.
  const isKept = keptParts.size > 0;
  const removed: string[] = [];
  for (const [n, one] of there.entries()) {
    const { kind } = states[n]!;
    if (kept?.split(',').includes(one) || kind === 'failed') continue;
    const parts = await partsOf(one);
    if (isKept && parts.some((part) => !keptParts.has(part))) {
      for (const part of parts) keptParts.add(part);
      kept = [...kept!.split(','), one].sort().join(',');
      continue;
    }
    await (kind === 'working' ? cancel : copies.remove)(access, one, signal);
    removed.push(one);
  }
  return { kind: 'looked', kept, removed };
}
