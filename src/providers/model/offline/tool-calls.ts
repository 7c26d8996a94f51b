/** Carries out orders for tools of connections, in their order. What a tool has read may be the text of a later order. */
import { writeOrdered } from './actions.ts';
import { type Conversation, findCall, isRecord, type PastCall } from './conversation.ts';
import { nothing, notOffered, over, type Progress } from './job.ts';
import { shownResult, type ToolOrder, type ToolOrders } from './tool-orders.ts';

const maxShown = 1_500;
const maxPassedOn = 3_000;

/** @param reportPath where a report on what was read is to be written; null: none is requested */
export function callTools(conversation: Conversation, { orders, refused }: ToolOrders, reportPath: string | null): Progress {
  if (orders.length + refused.length === 0) return nothing;
  const lines: string[] = [];
  const readings: string[] = [];
  for (const order of orders) {
    const progress = callTool(conversation, order, readings);
    if ('calls' in progress) return progress;
    lines.push(...progress.said);
  }
  if (reportPath !== null && readings.length > 0 && conversation.offered.has('write_file')) {
    const content = `# What was read\n\n${readings.join('\n\n')}\n`;
    const written = writeOrdered(conversation, { path: reportPath, content });
    if ('calls' in written) return written;
    lines.push(...written.said);
  }
  return over(...lines, ...refused);
}

function callTool(conversation: Conversation, { tool, args: given, reads, textField }: ToolOrder, readings: string[]): Progress {
  if (!conversation.offered.has(tool)) return notOffered(tool, `The call of ${tool}`);
  const args = { ...given };
  if (textField !== null) {
    const read = readings.at(-1);
    if (read !== undefined) args[textField] = read.slice(0, maxPassedOn);
    else if (textField !== 'body') return over(`${tool} was not called, because the task gives no text for it.`);
  }
  const past = findCall(conversation, tool, args);
  if (
    past === undefined &&
    tool === 'create_deployment' &&
    conversation.past.some(({ name, outcome }) => name === 'write_file' && outcome !== 'done')
  )
    return over(`${tool} was not called, because a file was not written.`);
  if (past === undefined) return { calls: [{ name: tool, args }] };
  if (past.outcome === 'rejected') return over(`${tool} was not done: a person rejected it.`);
  if (past.outcome === 'failed') return over(`${tool} failed: ${past.resultText.slice(0, 500)}`);
  if (reads) readings.push(shownResult(past.result, maxPassedOn));
  return over(published(past) ?? `${tool} answered: ${shownResult(past.result, maxShown)}`);
}

/** null: it is no deployment that is live. */
function published({ name, result }: PastCall): string | null {
  if (name !== 'create_deployment' || !isRecord(result) || result.status !== 'live') return null;
  const { url, target, mode } = result;
  return mode === 'test' ? `A preview of what ${target} would get is at ${url}` : `Published at ${target}: ${url}`;
}
