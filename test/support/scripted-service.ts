/** The whole service with a scripted model: a task whose prompt names a case is answered by that case. */
import type { TestContext } from 'node:test';
import type { Json } from './json.ts';
import { type Behaviour, type ChatMessage, type ChatRequest, finish, openAiServer, plan } from './openai-server.ts';
import { Caller, endStatuses, type Service, startService } from './service.ts';

export { endStatuses };

/** One request of a case. `turn`: how often its agent has answered before. `n`: its number among the requests of the case, from 1. */
export type Asked = { request: ChatRequest; isPlan: boolean; turn: number; n: number; said: string };
export type Case = (asked: Asked) => Behaviour;

export type ScriptedService = {
  service: Service;
  caller: Caller;
  /** The requests that a case has been sent so far. */
  requestsOf(name: string): ChatRequest[];
  /** Resolves with request `n` of a case as soon as it is there. */
  request(name: string, n: number): Promise<ChatRequest>;
  /** Creates a task that plays this case. */
  begin(name: string, play: Case, config?: object, by?: Caller, workspaceId?: string): Promise<Json>;
  /** Creates it and waits for its end, or for it to pause. */
  play(name: string, play: Case, config?: object, by?: Caller): Promise<Json>;
};

export async function scriptedService(
  t: TestContext,
  env: Record<string, string> = {},
  options: Parameters<typeof startService>[2] = {},
): Promise<ScriptedService> {
  const cases = new Map<string, Case>();
  const asked = new Map<string, ChatRequest[]>();
  const waiting: { name: string; n: number; resolve(request: ChatRequest): void }[] = [];
  const model = await openAiServer((request) => {
    const { messages, response_format: format } = request.body;
    const said = messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n');
    const name = /case ([\w-]+)/.exec(said)?.[1] ?? '';
    const requests = asked.get(name) ?? [];
    requests.push(request);
    asked.set(name, requests);
    for (const one of waiting) if (one.name === name && one.n === requests.length) one.resolve(request);
    const turn = messages.filter((message: ChatMessage) => message.role === 'assistant').length;
    return cases.get(name)!({ request, isPlan: format !== undefined, turn, n: requests.length, said });
  });
  t.after(() => model.close());
  const own = { MODEL_BASE_URL: model.url, MODEL_API_KEY: 'test-key', MODEL_NAME: 'scripted', OUTBOUND_ALLOW: '127.0.0.0/8' };
  const service = await startService(t, { ...own, ...env }, options);
  const caller = await Caller.register(service);
  const requestsOf = (name: string) => asked.get(name) ?? [];
  const request = (name: string, n: number): Promise<ChatRequest> =>
    requestsOf(name).length >= n ? Promise.resolve(requestsOf(name)[n - 1]!) : new Promise((resolve) => waiting.push({ name, n, resolve }));
  const begin = (name: string, play: Case, config: object = {}, by = caller, workspaceId?: string) => {
    cases.set(name, play);
    return by.json('POST', '/v1/tasks', { prompt: `case ${name}`, config, workspace_id: workspaceId });
  };
  return {
    service,
    caller,
    requestsOf,
    request,
    begin,
    async play(name, play, config, by) {
      const { id } = await begin(name, play, config, by);
      return caller.untilTask(id, [...endStatuses, 'paused']);
    },
  };
}

/** A case of one agent that takes these turns in order, and then finishes. */
export function turns(...behaviours: Behaviour[]): Case {
  return agentGroup([{}], () => behaviours);
}

/** A case of several agents: pieces of a plan, and the turns of each by its position. Its agents are named `agent 0`, `agent 1` … */
export function agentGroup(pieces: object[], turnsOf: (agent: number) => Behaviour[]): Case {
  return ({ isPlan, turn, said }) => {
    if (isPlan) {
      const name = /case ([\w-]+)/.exec(said)![1];
      return plan(
        pieces.map((piece, n) => ({ type: 'email', title: `piece ${n}`, prompt: `agent ${n} of case ${name}`, after: [], ...piece })),
      );
    }
    return turnsOf(Number(/agent (\d+)/.exec(said)![1]))[turn] ?? finish('Done.');
  };
}
