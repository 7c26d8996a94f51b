/**
 * A small agent loop: the offline model with the service's real tools over a workspace in memory. Approval is a function; mails are
 * collected in an array.
 */
import assert from 'node:assert/strict';
import type { Authority } from '../../../../src/authority.ts';
import { commerceTools } from '../../../../src/domains/commerce/tools/commerce-tools.ts';
import { createCatalogue } from '../../../../src/domains/tasks/tools/catalogue.ts';
import type { AgentMail, AgentType } from '../../../../src/domains/tasks/tools/port.ts';
import { runTool } from '../../../../src/domains/tasks/tools/run-tool.ts';
import { taskTools } from '../../../../src/domains/tasks/tools/task-tools.ts';
import { noBrowser } from '../../../../src/providers/browser/no-browser.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import { offlineModel } from '../../../../src/providers/model/embedded.ts';
import type { ModelMessage } from '../../../../src/providers/model/port.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import type { SandboxPool } from '../../../../src/providers/sandbox/port.ts';
import { everything, type MemoryWorkspace, memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';

export type LoopOptions = {
  files?: Record<string, string | Uint8Array>;
  type?: AgentType;
  sandbox?: SandboxPool;
  system?: string;
  /** Tools that this agent is not offered. */
  without?: string[];
  /** What the task may do; default: everything. */
  authority?: Authority;
  /** The reason for which a person rejects a call; null approves. */
  reject?: (name: string, args: Record<string, unknown>) => string | null;
  /** The error with which a call fails; null lets it run. */
  fail?: (name: string, args: Record<string, unknown>) => string | null;
  /** Guidance before the given turn (0 is the first). */
  guidance?: Record<number, string>;
  searchUrl?: string;
};

export type LoopResult = {
  summary: string;
  workspace: MemoryWorkspace;
  calls: { name: string; args: Record<string, any> }[];
  mails: { to: string; subject: string; text: string }[];
  turns: number;
};

const mostTurns = 80;
/** The tools that spend, without the money. */
const freePurchases = commerceTools({ actors: null as never }).map((tool) => ({
  ...tool,
  run: async () => ({ order_id: 'po_1', status: 'pending' }),
}));

export async function runAgent(task: string, options: LoopOptions = {}): Promise<LoopResult> {
  const workspace = memoryWorkspace(options.files ?? {});
  const mails: LoopResult['mails'] = [];
  const mail: AgentMail = { send: async (sent) => ({ detail: `kept ${mails.push(sent)}` }) };
  const catalogue = createCatalogue([
    ...taskTools({
      outbound: createOutbound({ allow: ['127.0.0.0/8'] }),
      searchUrl: options.searchUrl ?? null,
      sandbox: options.sandbox ?? noSandbox,
      compute: inlineCompute,
      browser: noBrowser,
    }),
    ...freePurchases,
  ]);
  const type = options.type ?? 'analyst';
  const authority = options.authority ?? everything;
  const withheld = catalogue.withheldFrom(type, authority);
  const tools = catalogue.offersFor(type, authority).filter(({ name }) => !options.without?.includes(name));
  const messages: ModelMessage[] = [{ role: 'user', text: task }];
  const calls: LoopResult['calls'] = [];
  const model = offlineModel();
  for (let turn = 0; turn < mostTurns; turn++) {
    const said = options.guidance?.[turn];
    if (said !== undefined) messages.push({ role: 'user', text: `A person says: ${said}` });
    const request = { system: options.system ?? '', messages, tools, withheld, maxOutputTokens: 4000 };
    const reply = await model.turn(request, { signal: new AbortController().signal, idempotencyKey: String(turn) });
    assert.equal(reply.costMillicents, 0);
    assert.deepEqual([reply.inputTokens, reply.outputTokens], [0, 0], 'no tokens are used, so none are counted');
    messages.push({ role: 'assistant', text: reply.text, toolCalls: reply.toolCalls });
    if (reply.toolCalls.length === 0) return { summary: reply.text, workspace, calls, mails, turns: turn + 1 };
    for (const { id, name, arguments: sent } of reply.toolCalls) {
      const args = sent as Record<string, any>;
      assert.ok(
        tools.some((tool) => tool.name === name),
        `${name} was not offered`,
      );
      calls.push({ name, args });
      if (name === 'finish') return { summary: args.summary, workspace, calls, mails, turns: turn + 1 };
      const rejected = options.reject?.(name, args) ?? null;
      const failed = options.fail?.(name, args) ?? null;
      if (rejected !== null) {
        const error = `A person rejected this: ${rejected}. Do not do it again; revise your approach.`;
        messages.push({ role: 'tool', callId: id, name, result: { error }, isError: true });
      } else if (failed !== null) {
        messages.push({ role: 'tool', callId: id, name, result: { error: failed }, isError: true });
      } else {
        const tool = catalogue.get(name)!;
        const outcome = await runTool(tool, args, { ...toolContext(workspace), mail }, (defect) => assert.fail(String(defect)));
        messages.push({ role: 'tool', callId: id, name, ...outcome });
      }
    }
  }
  assert.fail(`no end after ${mostTurns} turns`);
}

const noSandbox: SandboxPool = {
  run: () => assert.fail('no sandbox is expected here'),
  check: async () => {},
  close: async () => {},
  pids: () => [],
  load: { running: 0, waiting: 0, rejected: 0 },
};
