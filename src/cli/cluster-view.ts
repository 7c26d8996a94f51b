/** The cluster's status as text. */
import { countLimit } from './cluster-database.ts';
import type { ClusterStatus, NodeStatus } from './cluster-status.ts';
import { oneLine } from './plain-text.ts';

/** A table and a few lines, each ending with a line break. */
export function statusTable(status: ClusterStatus): string {
  const head = ['NODE', 'STATE', 'SHARDS', 'COMMITS/S', 'RENEWED', 'ADDRESS', 'ROLES'];
  const rows = status.nodes.map((node) => row(node, status));
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => cells[i]!.length)));
  const line = (cells: string[]) => {
    const padded = cells.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)));
    return padded.join('  ').trimEnd();
  };
  return [headline(status), '', line(head), ...rows.map(line), '', ...details(status)].map((text) => `${text}\n`).join('');
}

/** The status on one line, for a log. */
export function statusLine(status: ClusterStatus): string {
  const nodes = status.nodes.map(({ name, state, shards }) => `${oneLine(name, 63)} ${state} ${shards}`);
  return `${headline(status)} | ${nodes.join(', ')} | ${details(status).join(' | ')}`;
}

const isNumber = [false, false, true, true, true, false, false];

function row({ name, incarnation, state, shards, commits_per_s, last_renewal_ms, address, roles }: NodeStatus, { nodes }: ClusterStatus) {
  // A restarted node, beside the shards that its earlier process still owns.
  const namesake = nodes.some((other) => other.name === name && other.incarnation !== incarnation);
  return [
    oneLine(namesake ? `${name} (${incarnation.slice(name.length + 1, name.length + 5)})` : name, 70),
    state,
    String(shards),
    commits_per_s === null ? '-' : String(commits_per_s),
    last_renewal_ms === null ? '-' : `${(last_renewal_ms / 1_000).toFixed(1)} s`,
    oneLine(address ?? '-', 100),
    oneLine(roles?.join() ?? '-', 40),
  ];
}

function headline({ nodes, shards, view, redis, moves }: ClusterStatus): string {
  const unowned = shards.filter(({ owner }) => owner === null).length;
  return [
    view !== null ? `View ${view.number}` : redis === null ? 'One node, no Redis' : 'Redis does not answer: data from PostgreSQL only',
    count(nodes.length, 'node'),
    count(shards.length, 'shard'),
    ...(moves.length > 0 ? [`${moves.length} to move`] : []),
    ...(unowned > 0 ? [`${unowned} without an owner`] : []),
  ].join(', ');
}

function details({ lag, rates }: ClusterStatus): string[] {
  const waiting = ({ count: number, oldest_s }: { count: number; oldest_s: number | null }, what: string) =>
    `${count(number, what)}${oldest_s === null ? '' : ` (oldest ${oldest_s} s)`}`;
  return [
    lag === null
      ? 'Waiting work: unknown, PostgreSQL did not count it in time'
      : `Waiting: ${waiting(lag.messages, 'message')}, ${waiting(lag.effects, 'effect')}, ${waiting(lag.timers, 'overdue timer')}; ${count(lag.dead_letters, 'dead letter')}`,
    ...(rates === null ? [] : [`Rates: ${rates.commits_per_s} commits/s, ${rates.events_per_s ?? '?'} events/s`]),
  ];
}

function count(number: number, what: string): string {
  return `${number}${number >= countLimit ? ' or more' : ''} ${what}${number === 1 ? '' : 's'}`;
}
