/** When the packages of MCP are loaded. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { nodeEnv } from '../../support/node-env.ts';
import { Caller, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

for (const name of ['mcpClientPackage', 'mcpServerPackage'])
  test(`${name} loads its package in several turns of the event loop`, async () => {
    const program = `
      const { registerHooks } = await import('node:module');
      const { ${name} } = await import('./src/domains/integrations/mcp-packages.ts');
      let turn = 0;
      let isLoading = true;
      const count = () => { turn++; if (isLoading) setImmediate(count); };
      setImmediate(count);
      const turns = new Map();
      registerHooks({ load(url, context, next) { if (!turns.has(url)) turns.set(url, turn); return next(url, context); } });
      await ${name}();
      isLoading = false;
      const part = (text) => [...turns].findLast(([url]) => url.includes(text))[1];
      const parts = ['/zod/v4/core/index.js', '/zod/v4/classic/', '/@modelcontextprotocol/core/', '/ajvProvider', '/dist/index.mjs'].map(part);
      console.log(parts.every((one, i) => i === 0 || one > parts[i - 1]));`;
    const options = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, options);
    assert.equal(stdout, 'true\n');
  });

test('a service loads no MCP package before the first request that needs it', async (t) => {
  const preload = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) {
      if (url.includes('node_modules/@modelcontextprotocol/')) console.log('loaded ' + url.split('node_modules/')[1]);
      return next(url, context);
    } });`;
  const options = `${nodeEnv.NODE_OPTIONS ?? ''} --import=data:text/javascript,${encodeURIComponent(preload)}`;
  const service = await startService(t, { NODE_OPTIONS: options.trim() });
  const caller = await Caller.register(service);
  await caller.json('GET', '/v1/integrations/mcp');
  assert.doesNotMatch(service.output(), /loaded @modelcontextprotocol/);
  const accept = 'application/json, text/event-stream';
  const headers = { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json', accept };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  assert.equal((await fetch(`${service.url}/mcp`, { method: 'POST', headers, body })).status, 200);
  await until(() => /loaded @modelcontextprotocol\/server/.test(service.output()));
  assert.doesNotMatch(service.output(), /loaded @modelcontextprotocol\/client/);
});
