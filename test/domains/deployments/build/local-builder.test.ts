/** Builds, most of them hostile, against the namespaces of this machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { BuildJob } from '../../../../src/domains/deployments/build/builder.ts';
import { type LocalBuilderOptions, localBuilder } from '../../../../src/domains/deployments/build/local-builder.ts';
import { siteChecks } from '../../../../src/domains/deployments/deployment/check-site.ts';
import type { SiteFile, Snapshots } from '../../../../src/domains/deployments/snapshot/site.ts';
import { type DeploymentWorld, deploymentWorld, deployToken } from '../../../support/deployment-world.ts';
import { until } from '../../../support/until.ts';

const mib = 2 ** 20;
const accountId = 'acct_ann';
const workspaceId = 'ws_site';
const path = process.env.PATH!;
const options: Omit<LocalBuilderOptions, 'snapshots'> = {
  ...{ allowed: true, network: false, timeoutMs: 60_000, path, dataDir: '/var/lib/troupe' },
  limits: { memoryBytes: 300 * mib, diskBytes: 16 * mib, processes: 64, running: 20 },
};
const machineRefuses = await localBuilder({ ...options, snapshots: {} as Snapshots }).refusal();

let world: DeploymentWorld;
let snapshots: Snapshots;
const ends: (() => unknown)[] = [];
before(async () => {
  const openBuilder = (own: Snapshots) => localBuilder({ ...options, snapshots: own });
  world = await deploymentWorld({ after: (end) => void ends.push(end) }, { openBuilder, probeMs: 300 });
  ({ snapshots } = world);
});
after(async () => {
  for (const end of ends.reverse()) await end();
});

type Given = Partial<LocalBuilderOptions> &
  Partial<Pick<BuildJob, 'outputDir' | 'checks' | 'signal' | 'log'>> & { files?: Record<string, string> };

/** What the build has made, by path, and the lines of its log. */
async function built(command: string, given: Given = {}) {
  const { files = {}, outputDir = null, signal = new AbortController().signal, ...more } = given;
  const source = await snapshots.begin({ id: workspaceId, accountId });
  for (const [path, content] of Object.entries({ 'index.html': 'source', ...files }))
    await source.add({ path, content: Readable.from([Buffer.from(content)]), sizeBytes: Buffer.byteLength(content) });
  const { snapshotId } = await source.complete();
  const lines: string[] = [];
  const log = (more: string[]) => more.forEach((line) => lines.push(line));
  const builder = localBuilder({ ...options, snapshots, ...more });
  const site = await builder.build({
    deploymentId: 'dep_1',
    accountId,
    workspaceId,
    snapshotId,
    command,
    outputDir,
    log,
    signal,
    ...given,
  });
  const made: Record<string, string> = {};
  for (const file of await snapshots.files(site.snapshotId)) made[file.path] = await text(await snapshots.open(file));
  return { made, lines };
}

/** Processes of this machine whose command line has this text. */
function processesWith(marker: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && Number(pid) !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(marker);
    } catch {
      return false;
    }
  }).length;
}

test('a service with BUILDS=off reports this and builds nothing', async () => {
  assert.match((await localBuilder({ ...options, snapshots, allowed: false }).refusal())!, /BUILDS is off/);
});

describe('a build', { skip: machineRefuses ?? false }, () => {
  test('starts from a copy of the files, has only PATH, HOME, CI and LANG, and its output is a snapshot', async () => {
    const program = `
      const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
      mkdirSync('dist/assets', { recursive: true });
      writeFileSync('dist/index.html', readFileSync('pages/index.md', 'utf8').toUpperCase());
      writeFileSync('dist/assets/big.bin', 'x'.repeat(300_000));
      console.log(Object.keys(process.env).sort().join(' '), process.env.HOME === process.cwd());`;
    const { made, lines } = await built('echo begin >&2; node build.js', { files: { 'build.js': program, 'pages/index.md': 'hello' } });
    assert.deepEqual(Object.keys(made).sort(), ['assets/big.bin', 'index.html']);
    assert.equal(made['index.html'], 'HELLO');
    assert.equal(made['assets/big.bin']!.length, 300_000);
    assert.deepEqual(lines, ['begin', 'CI HOME LANG PATH PWD true']);
  });

  test('publishes output_dir; a missing or empty folder fails the build', async () => {
    assert.deepEqual((await built('mkdir -p out own/sub; echo s > own/sub/a', { outputDir: 'own/sub' })).made, { a: 's\n' });
    await assert.rejects(built('true'), { code: 'build_failed', message: /none of the folders dist, build, out, public/ });
    await assert.rejects(built('mkdir dist'), { code: 'build_failed', message: /no files/ });
  });

  test('of a deployment is published, its output is in the log without credentials, and its failure ends the deployment', async () => {
    const workspaceId = await world.workspace({ 'page.txt': 'hello' });
    const deployed = async (command: string) => {
      const config = await world.configure({ buildCommand: command });
      return await world.ended(await world.deploy({ workspace_id: workspaceId, config_id: config.id }));
    };
    const live = await deployed(`echo token ${deployToken}; mkdir dist; tr a-z A-Z < page.txt > dist/index.html`);
    assert.deepEqual([live.status, live.files, live.bytes], ['live', 1, 5]);
    assert.deepEqual(Object.fromEntries(world.host.made[0]!.files!), { 'index.html': 'HELLO' });
    assert.deepEqual(world.events(live.id), ['building', 'deploying', 'live']);
    assert.ok((await world.lines(live.id)).includes('token [masked]'));
    const failed = await deployed(`echo about ${deployToken}; exit 7`);
    assert.deepEqual([failed.status, failed.errorCode], ['failed', 'build_failed']);
    assert.equal(failed.errorMessage, 'The build ended with code 7:\nabout [masked]');
    const linked = await deployed('mkdir dist; ln -s /etc/passwd dist/index.html');
    assert.deepEqual([linked.errorCode, world.host.made.length], ['bad_name', 1]);
  });

  test('that fails reports its exit code and its last lines', async () => {
    await assert.rejects(built('for i in $(seq 30); do echo line $i; done; exit 3'), {
      code: 'build_failed',
      message: /^The build ended with code 3:\nline 11\n(?:line \d+\n)+line 30$/,
    });
    await assert.rejects(built('kill -SEGV $$'), { code: 'build_failed', message: /ended by SIGSEGV|code 139/ });
  });

  // As root the means of a plain user are tried too: without root's own, they are what a container may allow.
  for (const means of process.getuid!() === 0 ? (['root', 'other user'] as const) : (['user'] as const))
    test(`sees no DATA_DIR, no process and no environment of the service, and cannot write to the machine (means: ${means})`, async (t) => {
      const own = localBuilder({ ...options, snapshots, means: [means] });
      const refused = await own.refusal();
      if (refused !== null) return t.skip(refused);
      const dataDir = mkdtempSync('/usr/local/data-');
      t.after(() => rmSync(dataDir, { recursive: true }));
      writeFileSync(join(dataDir, 'secret-key'), 'the-secret-of-the-service', { mode: 0o644 });
      const outside = mkdtempSync(join(tmpdir(), 'data-'));
      t.after(() => rmSync(outside, { recursive: true }));
      writeFileSync(join(outside, 'secret-key'), 'the-secret-of-the-service', { mode: 0o644 });
      const marker = `MARKER_${process.pid}`;
      process.env[marker] = 'of-the-service';
      t.after(() => delete process.env[marker]);
      const commands = [
        `cat ${dataDir}/secret-key ${outside}/secret-key`,
        'cat /proc/[0-9]*/environ | tr "\\0" "\\n"',
        'for pid in $(ls /proc | grep "^[0-9]"); do head -c 1 /proc/$pid/mem; ls /proc/$pid/root/; cat /proc/$pid/fd/*; done',
        'umount /usr; mount -t tmpfs none /tmp; unshare --user true && echo NESTED; chroot / true && echo CHROOT',
        'kill -9 1; kill -9 2; kill -9 -1; touch /usr/x /etc/x /.troupe/x; cat /etc/shadow /etc/hostname',
      ];
      // The last of them ends the shell: only processes of the build are killed.
      const { lines } = await built(
        `{ ${commands.slice(0, 4).join('; ')}; } 2>&1; ls /proc | grep -c '^[0-9]'; mkdir dist; echo > dist/a`,
        {
          dataDir,
          means: [means],
        },
      );
      const said = lines.join('\n');
      for (const found of ['the-secret-of-the-service', marker, 'NESTED', 'CHROOT', 'secret-key:\n'])
        assert.ok(!said.includes(found), said);
      assert.ok(Number(lines.at(-1)) < 10, said);
      await assert.rejects(built(`{ ${commands[4]!}; } 2>&1`, { means: [means] }), { code: 'build_failed' });
    });

  test('reaches no network unless the operator allows it', async (t) => {
    const server = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const fetching = `fetch('http://127.0.0.1:${port}').then((answer) => answer.text()).then(console.log, (error) => console.log('none'))`;
    const command = `mkdir dist; echo > dist/a; node -e "${fetching}"`;
    assert.deepEqual((await built(command)).lines, ['none']);
    assert.deepEqual((await built(command, { network: true })).lines, ['reached']);
  });

  test('that ignores SIGTERM and continues in the background ends as timed_out, and no process of it is left', async () => {
    const marker = `sleep 98${process.pid}`;
    const command = `trap '' TERM; (setsid ${marker} &) ; setsid sh -c "trap '' TERM; while :; do ${marker}; done" & while :; do ${marker}; done`;
    await assert.rejects(built(command, { timeoutMs: 500 }), { code: 'timed_out', message: 'The build took longer than 0.5 s' });
    assert.equal(processesWith(marker), 0);
  });

  test('that stops its supervisor, which is possible without root, is ended', async (t) => {
    const marker = `sleep 94${process.pid}`;
    const means = [process.getuid!() === 0 ? 'other user' : 'user'] as const;
    const given = { means, limits: { ...options.limits, silenceMs: 1_500 } };
    const refused = await localBuilder({ ...options, snapshots, ...given }).refusal();
    if (refused !== null) return t.skip(refused);
    const command = `for pid in $(ls /proc | grep '^[0-9]'); do [ $pid = 1 ] || [ $pid = $$ ] || kill -STOP $pid; done; ${marker}`;
    await assert.rejects(built(command, given), { code: 'build_failed', message: /nothing watched it/ });
    assert.equal(processesWith(marker), 0);
  });

  test('leaves no background process when it succeeds', async () => {
    const marker = `sleep 97${process.pid}`;
    const { made } = await built(`(setsid ${marker} &); ${marker} & mkdir dist; echo done > dist/a`);
    assert.deepEqual(made, { a: 'done\n' });
    assert.equal(processesWith(marker), 0);
  });

  test('that forks endlessly is limited, and ended if its processes overload the processors', async () => {
    const marker = `forks-${process.pid}`;
    // Where the shells cannot fork any more, they end by themselves.
    const bomb = built(`: ${marker}; f() { f | f & }; f; while :; do sleep 1; done`, { timeoutMs: 3_000 });
    await assert.rejects(bomb, { code: /^(?:timed_out|build_failed)$/ });
    assert.equal(processesWith(marker), 0);
    const crowd = `: ${marker}; for i in $(seq 30); do while :; do :; done & done; wait`;
    await assert.rejects(built(crowd), { code: 'build_failed', message: /^The build ran more than 20 processes at once/ });
    assert.equal(processesWith(marker), 0);
  });

  test('has a lower priority than the service in every session that it begins', {
    skip: !existsSync('/proc/self/autogroup') && 'this system has no priorities of sessions',
  }, async () => {
    const command =
      'mkdir dist; for n in 1 2; do setsid sh -c "while ! grep -q nice.5 /proc/self/autogroup; do sleep 0.1; done; touch dist/$n" & done; wait';
    assert.deepEqual(Object.keys((await built(command)).made).sort(), ['1', '2']);
  });

  test('has bounded space and a bounded number of files', async () => {
    const full = { code: 'build_failed', message: /No space left/ };
    await assert.rejects(built('mkdir dist; head -c 10M /dev/zero > /tmp/a; head -c 10M /dev/zero > dist/a'), full);
    await assert.rejects(built('mkdir dist; cd dist; seq 1000 | xargs touch', { limits: { ...options.limits, files: 500 } }), full);
    await assert.rejects(built('mkdir dist; truncate -s 15M dist/a dist/b'), { code: 'build_failed', message: /more than 16 MiB/ });
    await assert.rejects(built('true', { files: { big: 'x'.repeat(17 * mib) } }), { code: 'build_failed', message: /do not fit/ });
  });

  test('is refused for the limits of its host before any file is stored', async () => {
    let added = 0;
    const watched = new Proxy(snapshots, {
      get: (own, name: keyof Snapshots) =>
        name !== 'begin'
          ? own[name]
          : async (workspace: { id: string; accountId: string }) => {
              const made = await own.begin(workspace);
              return { ...made, add: (file: Parameters<typeof made.add>[0]) => made.add(file).finally(() => added++) };
            },
    });
    const given = { snapshots: watched, checks: siteChecks({ title: 'A host', limits: { files: 3, fileBytes: 10 } }) };
    await assert.rejects(built('mkdir dist; cd dist; touch a b c d', given), {
      code: 'too_many_files',
      message: /at most 3 files; there are 4/,
    });
    await assert.rejects(built('mkdir dist; seq 100 > dist/a', given), { code: 'file_too_large', message: /at most 10 bytes; a has/ });
    assert.equal(added, 0);
    await built('mkdir dist; cd dist; touch a b c', given);
    assert.equal(added, 3);
  });

  test('has bounded memory, of all its processes together', async () => {
    const several = 'for i in 1 2 3 4; do node -e "const all = Buffer.alloc(100e6, 1); setInterval(() => all, 1e6)" & done; wait';
    await assert.rejects(built(several), { code: 'build_failed', message: /more than 300 MiB of memory/ });
  });

  test('that writes endless output succeeds, and its log has the first MiB and the end', async () => {
    const { lines } = await built('yes "$(seq -s " " 100)" | head -c 20M; echo; echo the end; mkdir dist; echo > dist/a');
    const chars = lines.reduce((sum, line) => sum + line.length + 1, 0);
    assert.ok(chars > mib - 1_000 && chars < mib + 20_000, `${chars} characters`);
    assert.equal(lines.at(-1), 'the end');
  });

  test('with links out of the workspace or two forms of one name is refused, and nothing of it is stored', async () => {
    const stored: string[] = [];
    const counting = {
      files: (id: string) => snapshots.files(id),
      open: (file: SiteFile) => snapshots.open(file),
      async begin(workspace: { id: string; accountId: string }) {
        const made = await snapshots.begin(workspace);
        return {
          ...made,
          async complete() {
            stored.push('site');
            return await made.complete();
          },
        };
      },
    } as Snapshots;
    const make = 'mkdir -p dist; echo a > dist/a';
    const out = { code: 'bad_name', message: 'p is a link out of the workspace' };
    await assert.rejects(built(`${make}; ln -s /etc/passwd dist/p`, { snapshots: counting }), out);
    const twice = `touch dist/$(printf "\\303\\251") dist/$(printf "e\\314\\201")`;
    await assert.rejects(built(`${make}; ${twice}`, { snapshots: counting }), { code: 'bad_name', message: /different Unicode forms/ });
    assert.deepEqual(stored, []);
    // The build is not root, but what it makes unreadable for itself can be published.
    assert.deepEqual((await built(`${make}; chmod 0 dist/a`)).made, { a: 'a\n' });
  });

  test('ends at once when it is cancelled or the service stops', async () => {
    const marker = `sleep 96${process.pid}`;
    const cancel = new AbortController();
    const reason = new Error('cancelled');
    const running = built(`echo running; ${marker}`, { signal: cancel.signal, log: () => cancel.abort(reason) });
    await assert.rejects(running, reason);
    assert.equal(processesWith(marker), 0);
    const builder = localBuilder({ ...options, snapshots });
    const { promise, resolve } = Promise.withResolvers<void>();
    const source = await snapshots.begin({ id: workspaceId, accountId });
    const { snapshotId } = await source.complete();
    const job = { deploymentId: 'dep_1', accountId, workspaceId, snapshotId, outputDir: null, signal: new AbortController().signal };
    const stopped = assert.rejects(builder.build({ ...job, command: `echo on; ${marker}`, log: () => resolve() }), { code: 'draining' });
    await promise;
    await builder.stop();
    await stopped;
    assert.equal(processesWith(marker), 0);
  });

  test('ends when the service is killed', async () => {
    const marker = `sleep 95${process.pid}`;
    const module = new URL('../../../../src/domains/deployments/build/local-builder.ts', import.meta.url).href;
    const service = `
      const { localBuilder } = await import(${JSON.stringify(module)});
      const snapshots = { files: async () => [], begin: async () => ({ discard() {} }) };
      const builder = localBuilder({ ...${JSON.stringify(options)}, snapshots });
      await builder.build({ command: 'echo on; (setsid ${marker} &); ${marker}', accountId: '', log: () => console.log('on'), signal: new AbortController().signal });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', service], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    assert.ok(processesWith(marker) >= 2);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The system ends them, not the service.
    await until(() => processesWith(marker) === 0, 'the end of its processes');
  });

  test('inherits no open file of the service', async () => {
    const module = new URL('../../../../src/domains/deployments/build/local-builder.ts', import.meta.url).href;
    const service = `
      const { localBuilder } = await import(${JSON.stringify(module)});
      const snapshots = { files: async () => [], begin: async () => ({ discard() {} }) };
      const builder = localBuilder({ ...${JSON.stringify(options)}, snapshots });
      const command = '[ -L /proc/self/fd/200 ] && echo got it; echo end; exit 1';
      await builder.build({ command, accountId: '', log: (lines) => console.log(lines.join()), signal: new AbortController().signal }).catch(() => {});`;
    // A number so high that Node.js does not mark it itself.
    const program = ['exec 200</etc/hostname; exec "$@"', 'bash', process.execPath, '--input-type=module', '-e', service];
    const child = spawn('bash', ['-c', ...program], { stdio: ['ignore', 'pipe', 'inherit'] });
    assert.equal(await text(child.stdout), 'end\n');
  });
});
