/** create_deployment: the approval's text, the checks before the deployment begins, and the agent's result. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { DeployConfig } from '../../../../src/domains/deployments/configs/config.ts';
import { deployConfigs } from '../../../../src/domains/deployments/configs/messages.ts';
import { DeployFailed } from '../../../../src/domains/deployments/hosts/host-failure.ts';
import { creationGate } from '../../../../src/domains/deployments/low-priority.ts';
import { createDeploymentTool } from '../../../../src/domains/deployments/tools/create-deployment.ts';
import { AskAgain } from '../../../../src/domains/tasks/contract.ts';
import { deploymentPort } from '../../../../src/domains/tasks/task/ports.ts';
import type { ToolContext } from '../../../../src/domains/tasks/tools/port.ts';
import { ToolError } from '../../../../src/errors.ts';
import { newId } from '../../../../src/ids.ts';
import type { Mode } from '../../../../src/mode.ts';
import { deploymentWorld } from '../../../support/deployment-world.ts';
import type { Json } from '../../../support/json.ts';
import { everything, memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';

const publicUrl = 'https://troupe.test';

test('the tool create_deployment', async (t) => {
  const world = await deploymentWorld(t);
  const { actors, snapshots, host, accountId, runtime } = world;
  const builder = { refusal: async () => 'No builds here' };
  const tool = createDeploymentTool({
    actors,
    database: runtime.database,
    snapshots,
    builder,
    creations: creationGate({ lane: () => ({ turn: async () => {} }), waitingRequests: 0 }),
    findHost: () => host.host,
    publicUrl: () => publicUrl,
  });
  let calls = 0;
  const contextOf = (
    workspaceId: string,
    { mode = 'live', approvedBasis = null }: { mode?: Mode; approvedBasis?: unknown } = {},
  ): ToolContext => ({
    ...toolContext(memoryWorkspace()),
    ...{ accountId, workspaceId, callId: `call_${++calls}`, slotOwner: accountId, approvedBasis, authority: { ...everything, mode } },
  });
  const snapshotsLeft = async () =>
    (await runtime.sql('select id from snapshot where id not in (select snapshot_id from deployment where snapshot_id is not null)'))
      .length;
  const refusal = async (work: Promise<unknown>): Promise<any> => {
    try {
      await work;
    } catch (error) {
      return error;
    }
    return assert.fail('it was not refused');
  };

  await t.test('without a configuration of the target there is no approval and no deployment', async () => {
    const context = contextOf(await world.workspace());
    for (const work of [tool.preview!, tool.run]) {
      const error = await refusal(work({ target: 'vercel' }, context));
      assert.ok(error instanceof ToolError);
      assert.match(error.message, /no deploy configuration of vercel.*Nothing was deployed/);
    }
  });

  const config: DeployConfig = await world.configure({ name: 'shop', project: 'ann-shop', url: world.site.url });

  await t.test('the approval shows host, configuration, files and missing parts; its snapshot is removed', async () => {
    const context = contextOf(await world.workspace({ 'a.html': 'x'.repeat(1_500), 'css/b.css': 'y' }));
    const { text } = await tool.preview!({ target: 'vercel' }, context);
    assert.match(
      text,
      new RegExp(
        `^Publishes 2 files \\(1\\.5 kB\\) of the workspace ws_\\w+ at Scripted with the configuration "shop" \\(${config.id}, project ann-shop, ${world.site.url}\\)`,
      ),
    );
    assert.match(text, /\nFiles: a\.html, css\/b\.css\.\n/);
    assert.match(text, /There is no index\.html/);
    const trial = await tool.preview!({ target: 'vercel' }, { ...context, authority: { ...everything, mode: 'test' } });
    assert.match(trial.text, /^TEST: makes a preview of 2 files .* nothing is sent to Scripted/);
    assert.equal(await snapshotsLeft(), 0);
  });

  await t.test(
    'a call without approval deploys for its task until the site is live, and a repeated call is the same deployment',
    async () => {
      const context = contextOf(await world.workspace());
      const plain = await world.configure({ name: 'plain' });
      const shown = (await tool.run({ target: 'vercel' }, context)) as Json;
      const { id, status, url, config_id, task_id, files } = shown;
      assert.deepEqual(
        { status, url, config_id, task_id, files },
        { status: 'live', url: world.site.url, config_id: plain.id, task_id: 'task_1', files: 1 },
      );
      await world.write(context.workspaceId, 'later.html', 'z');
      assert.deepEqual(
        await tool.run({ target: 'vercel' }, { ...context, isRepeat: true, approvedBasis: { configId: 'other', files: '' } }),
        shown,
      );
      assert.equal(host.made.filter(({ tag }) => tag === id).length, 1);
      assert.deepEqual(world.events(id), ['building', 'deploying', 'live']);
      const trial = (await tool.run({ target: 'netlify' }, contextOf(context.workspaceId, { mode: 'test' }))) as Json;
      assert.deepEqual([trial.mode, trial.status, trial.url], ['test', 'live', `${publicUrl}/preview/${trial.id}/`]);
    },
  );

  await t.test('a call frees its slot of the account before it waits for the end of the deployment', async () => {
    await world.configure({ name: 'slow' });
    const context = contextOf(await world.workspace());
    const released = Promise.withResolvers<void>();
    host.at = (moment) => (moment === 'finished' ? released.promise : null);
    const shown = (await tool.run({ target: 'vercel' }, { ...context, releaseSlot: released.resolve })) as Json;
    host.at = () => null;
    assert.equal(shown.status, 'live');
  });

  await t.test('only approved files are deployed: other files or another newest configuration need another approval', async () => {
    const context = contextOf(await world.workspace());
    const made = host.made.length;
    const { basis } = await tool.preview!({ target: 'vercel' }, context);
    await world.write(context.workspaceId, 'index.html', '<h1>Another</h1>');
    const run = (approvedBasis: unknown, args: object = {}) => tool.run({ target: 'vercel', ...args }, { ...context, approvedBasis });
    const again = await refusal(run(basis));
    assert.ok(again instanceof AskAgain);
    assert.match(again.preview.text, /^The files of the workspace have changed since this was approved\.\nPublishes 1 file/);
    const newer = await world.configure({ name: 'newer' });
    const other = await refusal(run(again.preview.basis));
    assert.match(other.preview.text, /^Another deploy configuration .*\n.*"newer"/);
    assert.deepEqual([host.made.length, await snapshotsLeft()], [made, 0]);
    const done = (await run(other.preview.basis)) as Json;
    assert.deepEqual([done.status, done.config_id], ['live', newer.id]);
    const named = contextOf(context.workspaceId, { approvedBasis: other.preview.basis });
    assert.equal(
      ((await tool.run({ target: 'vercel', config_id: config.id }, named)) as Json).config_id,
      config.id,
      'whoever approved has named it',
    );
  });

  await t.test('files that cannot be deployed are refused before the approval', async () => {
    const built = await world.configure({ name: 'built', buildCommand: 'make', target: 'netlify' });
    const workspaceId = await world.workspace();
    const refused: [object, string, RegExp][] = [
      [{ target: 'vercel' }, await world.workspace({}), /The workspace has no files/],
      [{ target: 'vercel' }, await world.workspace({ a: '1', 'a/b': '2' }), /a file and of a folder/],
      [{ target: 'netlify' }, workspaceId, /No builds here/],
      [{ target: 'vercel', config_id: built.id }, workspaceId, /is of netlify/],
      [{ target: 'vercel', config_id: 'cfg_none' }, workspaceId, /not found/],
    ];
    for (const [args, id, why] of refused) {
      for (const work of [tool.preview!, tool.run]) {
        const error = await refusal(work(args, contextOf(id)));
        assert.ok(error instanceof ToolError, String(error));
        assert.match(error.message, why);
      }
    }
    assert.equal(await snapshotsLeft(), 0);
  });

  await t.test(
    'the deployment of a completed task with auto_deploy uses the newest configuration, and fails with a reason without one',
    async () => {
      const { name: newest } = await world.configure({ name: 'newest' });
      const send = async (workspaceId: string, target: 'vercel' | 'expo', mode: Mode = 'live') => {
        const id = newId('dep_', accountId);
        await actors.ask(deploymentPort, id, 'create', { accountId, mode, workspaceId, target, configId: null, taskId: 'task_2' });
        const { status, configId, taskId, errorCode, errorMessage } = await world.ended(id);
        const config = configId === null ? null : await actors.query(deployConfigs, accountId, 'find', { id: configId, mode });
        return [status, config?.name ?? null, taskId, errorCode, errorMessage];
      };
      const workspaceId = await world.workspace();
      assert.deepEqual(await send(workspaceId, 'vercel'), ['live', newest, 'task_2', null, null]);
      assert.deepEqual(await send(workspaceId, 'expo', 'test'), ['live', null, 'task_2', null, null]);
      assert.deepEqual(await send(workspaceId, 'expo'), [
        'failed',
        null,
        'task_2',
        'auth',
        'There is no deploy configuration of expo any more',
      ]);
      assert.deepEqual((await send(await world.workspace({}), 'vercel')).slice(3), ['build_failed', 'The workspace has no files']);
    },
  );

  await t.test('a failed deployment is an error with its code, the text of the host and the id', async () => {
    host.states = [new DeployFailed('auth', 'The token was taken back')];
    const error = await refusal(tool.run({ target: 'vercel' }, contextOf(await world.workspace())));
    assert.ok(error instanceof ToolError);
    assert.match(error.message, /The deployment failed \(auth\): The token was taken back/);
    assert.match((error.details as Json).deployment.id, /^dep_/);
  });
});
