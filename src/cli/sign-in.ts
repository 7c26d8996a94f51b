/** Opens a session, for requests that API keys may not make, with a password typed at the terminal or read from standard input. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Client } from './client.ts';
import { Failure } from './failure.ts';

type Tokens = { access_token: string; refresh_token: string };
type Challenge = { two_factor_required: true; challenge_token: string };

export type Session = { client: Client; end(): Promise<void> };

/** Signs in, and out by `end`, so that no session is left behind. Throws `Failure`. */
export async function signIn(email: string, clientFor: (token: string | null) => Client): Promise<Session> {
  const anonymous = clientFor(null);
  const lines = linesOf();
  try {
    const password = await lines.hidden(`Password of ${email}: `);
    const first = await anonymous.request<Tokens | Challenge>('POST', '/v1/auth/login', { json: { email, password }, retries: 1 });
    const tokens = 'two_factor_required' in first ? await byCode(anonymous, first, await lines.hidden('Code: ')) : first;
    const client = clientFor(tokens.access_token);
    const json = { refresh_token: tokens.refresh_token };
    return {
      client,
      end: () =>
        client.request('POST', '/v1/auth/logout', { json, retries: 1 }).then(
          () => {},
          () => {},
        ),
    };
  } catch (error) {
    if (error instanceof Failure && error.status === 401)
      throw new Failure('refused', 'Email, password or code is wrong', { status: 401, cause: error });
    throw error;
  } finally {
    lines.close();
  }
}

function byCode(client: Client, { challenge_token }: Challenge, code: string): Promise<Tokens> {
  return client.request<Tokens>('POST', '/v1/auth/login/2fa', { json: { challenge_token, code }, retries: 1 });
}

/** Lines of standard input; at a terminal what is typed is not shown. */
function linesOf() {
  const isTerminal = process.stdin.isTTY === true;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: isTerminal });
  const waiting: string[] = [];
  const askers: ((line: string | null) => void)[] = [];
  let isOver = false;
  reader.on('line', (line) => {
    const asker = askers.shift();
    if (asker === undefined) waiting.push(line);
    else asker(line);
  });
  reader.on('close', () => {
    isOver = true;
    for (const asker of askers.splice(0)) asker(null);
  });
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return {
    async hidden(text: string): Promise<string> {
      if (isTerminal) process.stderr.write(text);
      const line = waiting.shift() ?? (isOver ? null : await new Promise<string | null>((resolve) => askers.push(resolve)));
      if (isTerminal) process.stderr.write('\n');
      if (line === null || line === '') throw new Failure('usage', 'No password was given');
      return line;
    },
    close: () => reader.close(),
  };
}
