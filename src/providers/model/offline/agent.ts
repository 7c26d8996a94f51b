/**
 * An agent's turn by rules. The jobs of a task are worked through in a fixed order; each looks at what was done so far and names its next calls or says
 * what came of it. Since no call is made twice, every conversation ends with `finish`.
 */
import { buy, inTurn, reportIn, sendMail, writeOrdered } from './acts.ts';
import { analyse, compute } from './analysis.ts';
import { parseArithmetic } from './arithmetic.ts';
import { abilities, realModel } from './cannot.ts';
import { type Call, type Conversation, findCall } from './conversation.ts';
import { listedFiles } from './gather.ts';
import { nothing, over, type Progress } from './job.ts';
import { type Orders, parseOrders, withoutMailOrders } from './orders.ts';
import { writeOutput } from './output-json.ts';
import { parseWishes, type Wishes } from './wishes.ts';

export type AgentTurn = { calls: Call[] } | { closing: string };

const mostTurns = 60;
const longestClosing = 12_000;
const honest = '(Written by the offline model: fixed rules, no language model.)';

export function takeTurn(talk: Conversation): AgentTurn {
  const text = [talk.task, ...talk.guidance].join('\n');
  const orders = parseOrders(text);
  const parsed = parseWishes(withoutMailOrders(talk.task), talk.guidance);
  const wishes = { ...parsed, unread: parsed.unread.filter((guidance) => !isOrder(guidance)) };
  const progress = work(talk, text, orders, wishes);
  if (talk.turns >= mostTurns) return { closing: `I stopped after ${mostTurns} turns. ${honest}` };
  if ('calls' in progress) return progress;
  const said =
    progress.said.length > wishes.cannot.length || progress.said.some((words) => !wishes.cannot.includes(words))
      ? progress.said
      : [...progress.said, `${abilities} ${realModel}`];
  return { closing: `${said.join('\n').slice(0, longestClosing)}\n${honest}` };
}

function work(talk: Conversation, text: string, orders: Orders, wishes: Wishes): Progress {
  const computing = compute(talk, text);
  if ('calls' in computing) return computing;
  const wanted = wantsReport(talk, orders, wishes, text);
  if (typeof wanted !== 'boolean') return wanted;
  const analysis = wanted ? analyse(talk, orders, wishes) : { progress: nothing, material: null, report: null };
  if ('calls' in analysis.progress) return analysis.progress;
  const { said } = analysis.progress;
  const unread =
    wanted && analysis.report !== null
      ? []
      : wishes.unread.map((guidance) => `Not followed, because no rule reads it: "${guidance.slice(0, 200)}"`);
  return inTurn([
    () => computing,
    () => analysis.progress,
    ...orders.files.map((order) => () => writeOrdered(talk, order)),
    () => writeOutput(talk, analysis.material, said),
    ...orders.purchases.map((order) => () => buy(talk, order)),
    ...orders.mails.map((order) => () => sendMail(talk, order, analysis.report)),
    () => over(...orders.refused, ...unread, ...(wanted ? [] : wishes.cannot)),
  ]);
}

/** Whether a report is asked for; a call where the workspace must be looked at first. */
function wantsReport(talk: Conversation, orders: Orders, wishes: Wishes, text: string): boolean | Progress {
  if (orders.urls.length > 0 || orders.search !== null || wishes.figures.length > 0 || wishes.focus.length > 0) return true;
  const acts = orders.mails.length + orders.purchases.length + orders.files.length + parseArithmetic(text).length;
  if (acts === 0) return wishes.report || hasFiles(talk);
  if (wishes.report && orders.purchases.length + orders.files.length === 0) return true;
  if (wishes.report) return hasFiles(talk);
  // "E-mail the report" where none was written yet means: write it first.
  if (orders.mails.every(({ message }) => message !== null)) return false;
  const listing = hasFiles(talk);
  return listing === true ? reportIn(talk) === null : listing;
}

function hasFiles(talk: Conversation): boolean | Progress {
  if (!talk.offered.has('list_files')) return false;
  if (findCall(talk, 'list_files') === undefined) return { calls: [{ name: 'list_files', args: {} }] };
  return (listedFiles(talk) ?? []).length > 0;
}

function isOrder(text: string): boolean {
  const { mails, purchases, files, urls, search, refused } = parseOrders(text);
  return (
    refused.length + mails.length + purchases.length + files.length + urls.length + parseArithmetic(text).length > 0 || search !== null
  );
}
