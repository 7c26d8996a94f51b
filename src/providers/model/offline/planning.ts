/** The plan of a task by rules: one agent for nearly everything, and a second one that sends the mail, after the first. */
import type { AgentType } from '../../tools/port.ts';
import { parseArithmetic } from './arithmetic.ts';
import { findUrls, parseOrders, withoutMailOrders } from './orders.ts';
import { parseWishes } from './wishes.ts';

export type PlannedAgent = { type: AgentType; title: string; prompt: string; after: number[] };

/** What a planning request says, read tolerantly. */
export type PlanningRequest = { task: string; files: string[]; maxAgents: number };

const fileLine = /^\s*[-*]\s+(.+?)\s+\(([^()]*?),?\s*[\d.,]+\s*(?:bytes|B|KB|MB)?\)\s*$/;
const frame =
  /^\s*(?:max_agents\s*[:=].*|files in the workspace:?|the workspace is empty\.?|task:?|the last agent must also write output\.json\.?)\s*$/i;

export function readPlanningRequest(text: string): PlanningRequest {
  // The service's own lines come last; a prompt may hold words like them.
  const at = text.search(/\n\s*max_agents\s*[:=]\s*\d+(?![\s\S]*\n\s*max_agents\s*[:=])/i);
  const tail = at === -1 ? text : text.slice(at);
  const files = tail.split('\n').flatMap((line) => fileLine.exec(line)?.[1] ?? []);
  const maxAgents = Number(/\bmax_agents\s*[:=]\s*(\d+)/i.exec(tail)?.[1] ?? 1);
  const lines = text.split('\n').filter((line) => !fileLine.test(line) && !frame.test(line));
  const task = (at === -1 ? lines.join('\n') : text.slice(0, at)).trim();
  return { task: task || text.trim(), files, maxAgents: Math.max(1, maxAgents) };
}

export function makePlan({ task, files, maxAgents }: PlanningRequest): { agents: PlannedAgent[] } {
  const orders = parseOrders(task);
  const work = withoutMailOrders(task);
  const hasWork =
    parseWishes(work, []).report ||
    orders.purchases.length + orders.files.length + parseArithmetic(work).length > 0 ||
    orders.search !== null;
  const own = orders.mails.filter(({ message }) => message === null);
  // A mail that has its own words needs nobody before it.
  if (own.length > 0 && own.length === orders.mails.length && hasWork && maxAgents >= 2) {
    const first = agent(typeOf(work, files), work);
    const path = parseWishes(work, []).reportPath;
    const recipients = own.map(({ to }) => to).join(' and ');
    const subject = own[0]!.subject === null ? '' : ` with the subject "${own[0]!.subject}"`;
    return {
      agents: [
        first,
        {
          type: 'email',
          title: `E-mail the report to ${recipients}`.slice(0, 120),
          prompt: `E-mail the report to ${recipients}${subject}. Another agent has written it into the workspace${path === null ? '' : ` as ${path}`}.`,
          after: [0],
        },
      ],
    };
  }
  return { agents: [orders.mails.length > 0 && !hasWork ? agent('email', task) : agent(typeOf(task, files), task)] };
}

function agent(type: AgentType, prompt: string): PlannedAgent {
  const title = prompt.replace(/\s+/g, ' ').slice(0, 80).trim();
  return { type, title: title || type, prompt: prompt || title, after: [] };
}

/** Data and texts at hand come before words: a report about a file is an analyst's, whatever else the task mentions. */
function typeOf(task: string, files: string[]): AgentType {
  const asksForReport = parseWishes(task, []).report;
  const named = files.some((name) => task.toLowerCase().includes(name.toLowerCase()));
  if (named || (files.length > 0 && asksForReport && !isSearch(task))) return 'analyst';
  if (isSearch(task)) return 'researcher';
  if (/\b(?:buy|sell|trade|short)\b[^.\n]{0,80}\b(?:stocks?|shares?|crypto|bitcoin|btc|eth|options?|position)\b|\btrading\b/i.test(task))
    return 'trader';
  if (/\b(?:tweet|slack|social media|linkedin|instagram|facebook|post (?:it|this|on|to|about|a))\b/i.test(task)) return 'social';
  if (
    /\b(?:build|make|create|code|implement|program|design|develop)\b[^.\n]{0,80}\b(?:web ?site|web ?page|page|app|application|script|program|code|tool|game|component|api|landing)\b|\b(?:refactor|debug)\b/i.test(
      task,
    )
  )
    return 'builder';
  return files.length > 0 || asksForReport || parseArithmetic(task).length > 0 ? 'analyst' : 'researcher';
}

function isSearch(task: string): boolean {
  return findUrls(task).length > 0 || /\b(?:research|search|look up|find out|google|investigate online|news about|latest)\b/i.test(task);
}
