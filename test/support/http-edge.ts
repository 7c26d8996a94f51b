/** A real server on a free port with the routes a test gives it. Tokens of one account are `all`, `reader` (tasks.read only), `key`, `more-1` to `more-3` and `link`; of another, `other-account`. */
import type { Principal } from '../../src/edge/auth/principal.ts';
import type { AnyRoute } from '../../src/edge/http/route.ts';
import { createRouter, type RouterOptions } from '../../src/edge/http/router.ts';
import { createServer, type HttpServer } from '../../src/edge/http/server.ts';
import { unlimited } from '../../src/edge/limits/limits.ts';
import type { Log } from '../../src/log.ts';

const base = { accountId: 'acct_1', userId: 'usr_1', mode: 'live' } as const;
const principals = new Map<string, Principal>([
  ['Bearer all', { ...base, kind: 'session', scopes: 'all', id: 'ses_1' }],
  ['Bearer key', { ...base, kind: 'api_key', scopes: new Set(['tasks.read', 'tasks.write']), id: 'key-1' }],
  ['Bearer reader', { ...base, kind: 'api_key', scopes: new Set(['tasks.read']), id: 'key-2' }],
  ...[1, 2, 3].map((n): [string, Principal] => [
    `Bearer more-${n}`,
    { ...base, kind: 'api_key', scopes: new Set(['tasks.read']), id: `key-more-${n}` },
  ]),
  ['Bearer other-account', { ...base, accountId: 'acct_2', kind: 'api_key', scopes: new Set(['tasks.read']), id: 'key-other' }],
  ['Bearer link', { ...base, kind: 'link', scopes: new Set(['tasks.read']), id: 'link-1' }],
]);

export type TestEdge = { port: number; url: string; server: HttpServer; logged: { level: string; fields: object; message: string }[] };

export async function startEdge(routes: AnyRoute[], options: Partial<RouterOptions> = {}): Promise<TestEdge> {
  const logged: TestEdge['logged'] = [];
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void logged.push({ level, fields, message });
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child: () => log };
  const handler = createRouter({
    routes,
    authenticate: (request) => principals.get(request.header('authorization')) ?? null,
    limits: unlimited,
    log,
    ...options,
  });
  const server = await createServer({ handler, log, maxHeaderBytes: 16 * 1024, accessLog: false });
  const { port } = await server.listen('127.0.0.1', 0);
  return { port, url: `http://127.0.0.1:${port}`, server, logged };
}
