/**
 * An agent's turn by rules. The jobs of a task run in a fixed order; each reads the calls made so far and returns its next calls or its
 * result. Since no call is made twice, every conversation ends with `finish`.
 */
import { buy, inTurn, reportIn, sendMail, writeOrdered } from './actions.ts';
import { analyse, compute } from './analysis.ts';
import { parseArithmetic } from './arithmetic.ts';
import { abilities, realModel } from './cannot.ts';
import { type Call, type Conversation, findCall } from './conversation.ts';
import { listedFiles } from './gather.ts';
import { nothing, over, type Progress } from './job.ts';
import { type Orders, parseOrders, withoutMailOrders } from './orders.ts';
import { writeOutput } from './output-json.ts';
import { parseRequests, type Requests } from './requests.ts';
import { callTools } from './tool-calls.ts';
import { parseToolOrders, type ToolOrders } from './tool-orders.ts';

type AllOrders = Orders & { tools: ToolOrders };
export type AgentTurn = { calls: Call[] } | { closing: string };

const maxTurns = 60;
const maxClosingChars = 12_000;
const disclaimer = '(Written by the offline model: fixed rules, no language model.)';

export function takeTurn(conversation: Conversation): AgentTurn {
  const text = [conversation.task, ...conversation.guidance].join('\n');
  const orders = parseOrders(text);
  const parsed = parseRequests(withoutMailOrders(conversation.task), conversation.guidance);
  const requests = { ...parsed, unread: parsed.unread.filter((guidance) => !isOrder(guidance, conversation)) };
  const tools = parseToolOrders(text, conversation.offers, conversation.withheld);
  const progress = work(conversation, text, { ...orders, tools }, requests);
  if (conversation.turns >= maxTurns) return { closing: `I stopped after ${maxTurns} turns. ${disclaimer}` };
  if ('calls' in progress) return progress;
  const lines =
    progress.said.length > requests.cannot.length || progress.said.some((words) => !requests.cannot.includes(words))
      ? progress.said
      : [...progress.said, `${abilities} ${realModel}`];
  return { closing: `${lines.join('\n').slice(0, maxClosingChars)}\n${disclaimer}` };
}

function work(conversation: Conversation, text: string, orders: AllOrders, requests: Requests): Progress {
  const computing = compute(conversation, text);
  if ('calls' in computing) return computing;
  const wanted = wantsReport(conversation, orders, requests, text);
  if (typeof wanted !== 'boolean') return wanted;
  const analysis = wanted ? analyse(conversation, orders, requests) : { progress: nothing, material: null, report: null };
  if ('calls' in analysis.progress) return analysis.progress;
  const { said: lines } = analysis.progress;
  const unread =
    wanted && analysis.report !== null
      ? []
      : requests.unread.map((guidance) => `Not followed, because no rule reads it: "${guidance.slice(0, 200)}"`);
  return inTurn([
    () => computing,
    () => analysis.progress,
    ...orders.files.map((order) => () => writeOrdered(conversation, order)),
    () => writeOutput(conversation, analysis.material, lines),
    () => callTools(conversation, orders.tools, requests.report && !wanted ? (requests.reportPath ?? 'report.md') : null),
    ...orders.purchases.map((order) => () => buy(conversation, order)),
    ...orders.mails.map((order) => () => sendMail(conversation, order, analysis.report)),
    () => over(...orders.refused, ...unread, ...(wanted || orders.tools.orders.length > 0 ? [] : requests.cannot)),
  ]);
}

/** Whether a report is requested; a call if the workspace must be listed first. */
function wantsReport(conversation: Conversation, orders: AllOrders, requests: Requests, text: string): boolean | Progress {
  if (orders.urls.length > 0 || orders.search !== null || requests.figures.length > 0 || requests.focus.length > 0) return true;
  const actions =
    orders.mails.length + orders.purchases.length + orders.files.length + orders.tools.orders.length + parseArithmetic(text).length;
  if (actions === 0) return requests.report || hasFiles(conversation);
  if (requests.report && orders.purchases.length + orders.files.length === 0) return true;
  if (requests.report) return hasFiles(conversation);
  // "E-mail the report" without an existing report means: write it first.
  if (orders.mails.every(({ message }) => message !== null)) return false;
  const listing = hasFiles(conversation);
  return listing === true ? reportIn(conversation) === null : listing;
}

function hasFiles(conversation: Conversation): boolean | Progress {
  if (!conversation.offered.has('list_files')) return false;
  if (findCall(conversation, 'list_files') === undefined) return { calls: [{ name: 'list_files', args: {} }] };
  return (listedFiles(conversation) ?? []).length > 0;
}

function isOrder(text: string, { offers, withheld }: Conversation): boolean {
  const tools = parseToolOrders(text, offers, withheld);
  if (tools.orders.length + tools.refused.length > 0) return true;
  const { mails, purchases, files, urls, search, refused } = parseOrders(text);
  return (
    refused.length + mails.length + purchases.length + files.length + urls.length + parseArithmetic(text).length > 0 || search !== null
  );
}
