/** A runtime with probe actors whose connections to the database a test can hold, cut and slow down. */
import { probeActor, probeOptions } from './probe-actor.ts';
import { type TestRuntime, type TestRuntimeOptions, testRuntime } from './runtime.ts';
import type { Scope } from './scope.ts';
import { TcpProxy } from './tcp-proxy.ts';

export type ProxiedNode = { node: TestRuntime; proxy: TcpProxy };

/** Closed with the test. */
export async function proxiedNode(t: Scope, options: TestRuntimeOptions = {}): Promise<ProxiedNode> {
  let proxy!: TcpProxy;
  const via = async (url: string) => {
    proxy = await TcpProxy.before(url);
    return proxy.url;
  };
  const node = await testRuntime([probeActor], { ...probeOptions, ...options, via });
  t.after(async () => {
    await node.close();
    await proxy.close();
  });
  return { node, proxy };
}
