/** web_search: queries the operator's search endpoint (SearXNG or another with the same JSON). */
import Type from 'typebox';
import { AppError, ToolError } from '../../../errors.ts';
import { answerLimits, parseWithin } from '../../../json-bounds.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import type { Tool } from './port.ts';

const maxResults = 10;

/** @param searchUrl SEARCH_URL, e.g. `http://searxng:8080/search`; null when none is configured */
export function createWebSearch(outbound: Outbound, searchUrl: string | null): Tool {
  return {
    name: 'web_search',
    agentTypes: 'all',
    description:
      'Searches the web. Answers up to ten results {title, url, snippet}; read the promising ones with fetch_url before relying on them.',
    parameters: Type.Object({ query: Type.String({ minLength: 1, maxLength: 500, description: 'What to look for, in a few words' }) }),
    need: null,
    highConsequence: false,
    repeatable: true,
    untrusted: true,
    timeoutMs: 30_000,
    async run({ query }: { query: string }, { accountId, signal }) {
      if (!searchUrl) {
        throw new ToolError(
          'No search endpoint is configured here (SEARCH_URL). Use fetch_url with addresses you know, and say in your result that nothing was searched.',
        );
      }
      const url = new URL(searchUrl);
      url.searchParams.set('q', query);
      url.searchParams.set('format', 'json');
      const response = await outbound
        .fetch(url.href, { configured: true, headers: { accept: 'application/json' }, signal, account: accountId, maxBytes: 2 ** 20 })
        .catch((error: unknown) => {
          if (error instanceof AppError)
            throw new ToolError('The search endpoint does not answer now. Use fetch_url with addresses you know.', { cause: error });
          throw error;
        });
      if (response.status !== 200)
        throw new ToolError(`The search endpoint answered with status ${response.status}. Use fetch_url with addresses you know.`);
      return { results: readResults(response.body) };
    },
  };
}

function readResults(body: Uint8Array): { title: string; url: string; snippet: string }[] {
  const answer = parseWithin(body, answerLimits);
  const results = isRecord(answer) && Array.isArray(answer.results) ? answer.results : null;
  if (!results) throw new ToolError('The search endpoint did not answer with the JSON of a search (its JSON format may be switched off).');
  return results
    .filter(isRecord)
    .filter(({ url }) => typeof url === 'string' && /^https?:\/\//i.test(url))
    .slice(0, maxResults)
    .map(({ title, url, content }) => ({ title: text(title, 300), url: text(url, 2000), snippet: text(content, 600) }));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown, maxChars: number): string {
  return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim().slice(0, maxChars) : '';
}
