/** The plan of a task by rules: one agent for nearly everything, and a second one that sends the mail afterwards. */
import { parseArithmetic } from './arithmetic.ts';
import { findMentions } from './file-mentions.ts';
import { findUrls, parseOrders, withoutMailOrders } from './orders.ts';
import { collapseWhitespace, isDigit } from './prompt-tokens.ts';
import { parseRequests } from './requests.ts';

/** The agent types of a plan that rules can choose. */
type AgentType = 'researcher' | 'builder' | 'analyst' | 'trader' | 'email' | 'social';
export type PlannedAgent = { type: AgentType; title: string; prompt: string; after: number[] };

/** The parsed planning request. */
export type PlanningRequest = { task: string; files: string[]; maxAgents: number };

const frameLines = new Set([
  'files in the workspace',
  'files in the workspace:',
  'the workspace is empty',
  'the workspace is empty.',
  'task',
  'task:',
]);
const outputLine = 'the last agent must also write output.json.';
const maxTitleChars = 80;

export function readPlanningRequest(text: string): PlanningRequest {
  const lines = text.split('\n');
  // The service's own lines come last; a prompt may contain similar ones.
  const at = lines.findLastIndex((line) => limitOf(line) !== null);
  const tail = at === -1 ? lines : lines.slice(at);
  const files = tail.flatMap((line) => listedFile(line) ?? []);
  const maxAgents = at === -1 ? 1 : limitOf(lines[at]!)!;
  const own = at === -1 ? lines.filter((line) => listedFile(line) === null && !isFrame(line)) : lines.slice(0, at);
  const task = own.join('\n').trim();
  return { task: task || text.trim(), files, maxAgents: Math.max(1, maxAgents) };
}

/** The number in a line "max_agents: 3"; null for any other line. */
function limitOf(line: string): number | null {
  const words = line.trim();
  if (!words.toLowerCase().startsWith('max_agents')) return null;
  const rest = words.slice('max_agents'.length).trim();
  return /^[:=]\s?\d{1,6}$/.test(rest.slice(0, 12)) && rest.length <= 12 ? Number(rest.slice(1)) : null;
}

/** The name in a line "- sales.csv (text/csv, 6000 bytes)"; null for any other line. */
function listedFile(line: string): string | null {
  const words = line.trim();
  if ((!words.startsWith('- ') && !words.startsWith('* ')) || !words.endsWith(')')) return null;
  const open = words.lastIndexOf('(');
  if (open < 3 || words.length - open > 200) return null;
  const inner = words
    .slice(open + 1, -1)
    .trim()
    .toLowerCase();
  const unit = ['bytes', 'kb', 'mb', 'b'].find((each) => inner.endsWith(each)) ?? '';
  const size = inner.slice(0, inner.length - unit.length).trimEnd();
  const name = words.slice(2, open).trim();
  return isDigit(size.at(-1)) && name !== '' ? name : null;
}

function isFrame(line: string): boolean {
  const words = line.trim().toLowerCase();
  return frameLines.has(words) || words === outputLine || limitOf(line) !== null;
}

export function makePlan({ task, files, maxAgents }: PlanningRequest): { agents: PlannedAgent[] } {
  const orders = parseOrders(task);
  const work = withoutMailOrders(task);
  const requests = parseRequests(work, []);
  const hasWork =
    requests.report || orders.purchases.length + orders.files.length + parseArithmetic(work).length > 0 || orders.search !== null;
  const own = orders.mails.filter(({ message }) => message === null);
  // A mail with a given text depends on no other agent.
  if (own.length > 0 && own.length === orders.mails.length && hasWork && maxAgents >= 2) {
    const first = agent(typeOf(work, files), work);
    const path = requests.reportPath;
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
  // "Send the summary of sales.csv to …" needs the data tools, although only a mail is ordered.
  const isMailAlone = orders.mails.length > 0 && !hasWork && findMentions(task, files).named.length === 0;
  return { agents: [isMailAlone ? agent('email', task) : agent(typeOf(task, files), task)] };
}

function agent(type: AgentType, prompt: string): PlannedAgent {
  const title = collapseWhitespace(prompt.slice(0, 1000)).slice(0, maxTitleChars).trim();
  return { type, title: title || type, prompt: prompt || title, after: [] };
}

/** Existing data and texts have priority over words: a report about a file is for an analyst, whatever else the task mentions. */
function typeOf(task: string, files: string[]): AgentType {
  const asksForReport = parseRequests(task, []).report;
  const named = files.some((name) => task.toLowerCase().includes(name.toLowerCase()));
  if (named || (files.length > 0 && asksForReport && !isSearch(task))) return 'analyst';
  if (isSearch(task)) return 'researcher';
  if (/\b(?:buy|sell|trade|short)\b[^.\n]{0,80}\b(?:stocks?|shares?|crypto|bitcoin|btc|eth|options?|position)\b|\btrading\b/i.test(task))
    return 'trader';
  if (/\b(?:tweet|slack|social media|linkedin|instagram|facebook|post (?:it|this|on|to|about|a))\b/i.test(task)) return 'social';
  if (
    /\b(?:build|make|create|code|implement|program|design|develop)\b[^.\n]{0,80}\b(?:web ?site|web ?page|page|app|application|script|program|code|tool|game|component|api|landing)\b|\b(?:refactor|debug|deploy)\b/i.test(
      task,
    )
  )
    return 'builder';
  return files.length > 0 || asksForReport || parseArithmetic(task).length > 0 ? 'analyst' : 'researcher';
}

function isSearch(task: string): boolean {
  return findUrls(task).length > 0 || /\b(?:research|search|look up|find out|google|investigate online|news about|latest)\b/i.test(task);
}
