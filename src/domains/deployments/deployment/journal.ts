/** Log lines that a turn adds: rows, and one event for all lines of the turn. */
import type { TurnContext } from '../../../actors/define-actor.ts';
import { isoTimestamp } from '../../../clock.ts';
import type { DeploymentRow } from './entity.ts';
import { DeploymentLogLine } from './log-entity.ts';
import type { LogLine } from './messages.ts';

/** Per deployment; the last line reports that further lines were left out. */
export const maxLogLines = 10_000;
export const maxLineChars = 2_000;

/** Lines beyond `maxLogLines` are left out. */
export function withLines(row: DeploymentRow, lines: readonly LogLine[], ctx: Pick<TurnContext, 'append' | 'emit'>): DeploymentRow {
  const room = maxLogLines - row.logLines;
  if (room <= 0 || lines.length === 0) return row;
  const kept = lines.slice(0, room).map(({ text, ...line }) => ({ ...line, text: text.slice(0, maxLineChars) }));
  if (lines.length >= room) kept[room - 1] = { ...kept[room - 1]!, source: 'troupe', text: 'The log is full: further lines are left out' };
  kept.forEach((line, i) => ctx.append(DeploymentLogLine, { deploymentId: row.id, line: row.logLines + i + 1, ...line }));
  const { id, mode, accountId, taskId } = row;
  const shown = kept.map(({ at, source, text }) => ({ at: isoTimestamp(at), source, text }));
  ctx.emit({ accountId, type: 'deployment.log', data: { deployment_id: id, task_id: taskId, mode, lines: shown } });
  return { ...row, logLines: row.logLines + kept.length };
}
