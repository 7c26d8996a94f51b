/** A customer of the service under measurement: an account with a key, and a task that agents have finished. */
import { readFile } from 'node:fs/promises';
import { setTimeout as after } from 'node:timers/promises';
import type { Json } from '../../test/support/json.ts';

const taskWithinMs = 60_000;
const pollMs = 50;
const ended = new Set(['complete', 'failed', 'cancelled']);
const example = new URL('../../examples/sales.csv', import.meta.url);

/** The service refuses a request for now. */
export class RefusedForNow extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

export class Customer {
  readonly url: string;
  /** A person's access token. */
  readonly token: string;

  private constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  static async register(url: string, email: string): Promise<Customer> {
    const password = 'a bench is no secret';
    await request(url, 'POST', '/v1/auth/register', null, { email, password });
    const session = await request(url, 'POST', '/v1/auth/login', null, { email, password });
    return new Customer(url, session.access_token);
  }

  /** A program's key with all that tasks need. */
  async apiKey(): Promise<string> {
    const scopes = ['tasks.read', 'tasks.write', 'agents.read', 'workspaces.read', 'workspaces.write'];
    return (await this.post('/v1/api-keys', { name: 'bench', scopes })).key;
  }

  post(path: string, body: object): Promise<Json> {
    return request(this.url, 'POST', path, this.token, body);
  }

  get(path: string): Promise<Json> {
    return request(this.url, 'GET', path, this.token);
  }

  /** The offline model analyses the example table in it. */
  async workspaceWithTable(name: string): Promise<string> {
    const { id } = await this.post('/v1/workspaces', { name });
    await this.upload(id, 'sales.csv', await readFile(example, 'utf8'));
    return id;
  }

  /** A new file, or a new version of it. */
  upload(workspaceId: string, name: string, text: string): Promise<Json> {
    const form = new FormData();
    form.append('file', new Blob([text], { type: name.endsWith('.csv') ? 'text/csv' : 'text/plain' }), name);
    return request(this.url, 'POST', `/v1/workspaces/${workspaceId}/files`, this.token, form);
  }

  /** The same with folders in its name. */
  uploadAt(workspaceId: string, path: string, text: string): Promise<Json> {
    const form = new FormData();
    form.append('path', path);
    form.append('file', new Blob([text]), 'file.html');
    return request(this.url, 'POST', `/v1/workspaces/${workspaceId}/files`, this.token, form);
  }

  /** Creates a task and waits until its agents are done. */
  async finishedTask(workspaceId: string): Promise<{ id: string; agents: unknown[] }> {
    const config = { autonomy_level: 100 };
    const prompt = 'Analyse sales.csv and tell me what stands out';
    const { id } = await this.post('/v1/tasks', { prompt, workspace_id: workspaceId, config });
    for (let waitedMs = 0; waitedMs < taskWithinMs; waitedMs += pollMs) {
      const task = await this.get(`/v1/tasks/${id}`);
      if (task.status === 'complete') return task;
      if (ended.has(task.status)) throw new Error(`the task ended as ${task.status}: ${task.error}`);
      await after(pollMs);
    }
    throw new Error('the task does not end');
  }
}

async function request(url: string, method: string, path: string, token: string | null, body?: object): Promise<Json> {
  const isForm = body instanceof FormData;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined || isForm ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) {
    const message = `${method} ${path} was answered ${response.status}: ${text.slice(0, 300)}`;
    const retryAfter = response.headers.get('retry-after');
    throw retryAfter === null ? new Error(message) : new RefusedForNow(message, Number(retryAfter) * 1_000);
  }
  return JSON.parse(text);
}
