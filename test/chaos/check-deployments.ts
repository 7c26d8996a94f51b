/**
 * Checks the deployments of a run: the answers to clients, the state that every node shows at the end, and the state at the hosts. Pure,
 * like `check.ts`; `check-deployments.test.ts` has for each rule a history that breaks only this rule.
 */
import { describeOperation, type Violation, violationsOf } from './check.ts';
import type { KeptDeployments } from './gather-deployments.ts';
import type { Operation } from './history.ts';

/** The rules in the words of a report. */
export const deploymentRules = {
  deployed: 'a deployment is created once for each command, with the files of its workspace',
  cancelledDeployments: 'a deployment whose cancellation was confirmed has failed as cancelled',
  deploymentsEnd: 'every deployment comes to its end, by a failure that has a reason',
  deploymentEvents: 'each status of a deployment has one event',
  deploymentsShown: 'every node shows a deployment as it is kept',
  onceAtHost: 'a deployment is at its host once, and not under way when it has ended here',
  published: 'a live deployment is live at its host, with the files of its snapshot',
} as const;

export function checkDeployments(operations: readonly Operation[], kept: KeptDeployments): Violation[] {
  return violationsOf(deploymentRules, {
    deployed: deployedOnce(operations, kept),
    cancelledDeployments: cancelsHeld(operations, kept),
    deploymentsEnd: kept.deployments.flatMap(hasConsistentEnd),
    deploymentEvents: emittedOnce(kept),
    deploymentsShown: shownRight(kept),
    onceAtHost: onceAtHost(kept),
    published: publishedRight(kept),
  });
}

function deployedOnce(operations: readonly Operation[], { deployments }: KeptDeployments): string[] {
  const asked = Map.groupBy(
    operations.filter(({ name }) => name === 'deploy'),
    ({ subject }) => subject,
  );
  const made = Map.groupBy(deployments, ({ workspace }) => workspace);
  const ids = new Set(deployments.map(({ id }) => id));
  const counts = [...asked].flatMap(([workspace, commands]) => {
    const count = made.get(workspace)?.length ?? 0;
    const done = commands.filter(({ outcome }) => outcome === 'done').length;
    const unknown = commands.filter(({ outcome }) => outcome === 'unknown').length;
    if (count >= done && count <= done + unknown) return [];
    return [`${workspace} has ${count} deployments from ${done} commands acknowledged and ${unknown} unknown`];
  });
  const lost = operations
    .filter(({ name, outcome, result }) => name === 'deploy' && outcome === 'done' && !ids.has(String(result)))
    .map((operation) => `${describeOperation(operation)} as ${operation.result}, which is not kept`);
  const others = deployments.flatMap(({ id, workspace, fingerprint }) => {
    const [command] = asked.get(workspace) ?? [];
    if (command === undefined) return [`${id} of ${workspace}: no client requested it`];
    return fingerprint === null || fingerprint === command.value ? [] : [`${id} has other files than its workspace had`];
  });
  return [...counts, ...lost, ...others];
}

function cancelsHeld(operations: readonly Operation[], { deployments }: KeptDeployments): string[] {
  const codeOf = new Map(deployments.map(({ id, status, code }) => [id, code ?? status]));
  return operations
    .filter(({ name, outcome }) => name === 'cancel deployment' && outcome === 'done')
    .filter(({ subject }) => codeOf.get(subject) !== 'cancelled')
    .map((operation) => `${describeOperation(operation)}, but it is ${codeOf.get(operation.subject) ?? 'gone'}`);
}

function hasConsistentEnd({ id, status, code, message, isUnderWay }: KeptDeployments['deployments'][number]): string[] {
  if (status !== 'live' && status !== 'failed') return [`${id} is still ${status}`];
  if (isUnderWay) return [`${id} is ${status}, and something of it is under way`];
  return status === 'failed' && /unexpectedly/.test(message ?? '') ? [`${id} failed as ${code}: ${message}`] : [];
}

function emittedOnce({ deployments, events }: KeptDeployments): string[] {
  const byId = Map.groupBy(events, ({ deployment }) => deployment);
  return deployments.flatMap(({ id, status }) => {
    const types = (byId.get(id) ?? []).map(({ type }) => type.slice('deployment.'.length));
    const twice = types.filter((type, n) => types.indexOf(type) !== n);
    const ends = types.filter((type) => type === 'live' || type === 'failed');
    const isRight = twice.length === 0 && (ends.join() === status || (ends.length === 0 && status !== 'live' && status !== 'failed'));
    return isRight ? [] : [`${id} is ${status}, and its events are ${types.join(', ') || 'none'}`];
  });
}

function shownRight({ deployments, views }: KeptDeployments): string[] {
  const statusOf = new Map(deployments.map(({ id, status }) => [id, status]));
  return views
    .filter(({ id, status }) => statusOf.get(id) !== status)
    .map(({ node, id, status }) => `${node} shows ${id} as ${status}, it is ${statusOf.get(id) ?? 'gone'}`);
}

/** What was cancelled there is over. */
function onceAtHost({ deployments, atHosts }: KeptDeployments): string[] {
  const statusOf = new Map(deployments.map(({ id, status }) => [id, status]));
  const there = Map.groupBy(
    atHosts.filter(({ state }) => state === 'working' || state === 'live'),
    ({ tag }) => tag,
  );
  return [...there].flatMap(([tag, ones]) => {
    const wrong: string[] = [];
    if (!statusOf.has(tag)) wrong.push(`${tag} is at ${ones[0]!.host}, and is not kept here`);
    if (ones.length > 1) wrong.push(`${tag} is at ${ones[0]!.host} ${ones.length} times: ${ones.map(({ id }) => id).join(', ')}`);
    for (const { host, id, state } of ones)
      if (state === 'working') wrong.push(`${tag} is ${statusOf.get(tag)}, and ${id} is under way at ${host}`);
    return wrong;
  });
}

function publishedRight({ deployments, atHosts }: KeptDeployments): string[] {
  return deployments.flatMap(({ id, status, providerId, fingerprint }) => {
    if (status !== 'live') return [];
    const found = atHosts.find((one) => one.tag === id && one.id === providerId);
    if (found === undefined) return [`${id} is live as ${providerId}, which its host does not have`];
    if (found.state !== 'live') return [`${id} is live, and ${found.state} at ${found.host}`];
    return found.fingerprint === fingerprint ? [] : [`${id} has other files at ${found.host} than in its snapshot`];
  });
}
