/** Which files of a build's output are published, with folders of this machine. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findFiles, outputFolder } from '../../../../src/domains/deployments/build/inside/collect.ts';

const usual = ['dist', 'build', 'out', 'public'];

/** The paths of the files that are found after a shell command in an empty folder. */
function collected(t: TestContext, command: string, wanted: string | null = null): string[] {
  const home = join(realpathSync(mkdtempSync(join(tmpdir(), 'collect-'))), 'build');
  t.after(() => rmSync(join(home, '..'), { recursive: true }));
  mkdirSync(home);
  execFileSync('sh', ['-c', command], { cwd: home });
  return findFiles(home, outputFolder(home, wanted, usual))
    .map(({ path, sizeBytes }) => `${path} ${sizeBytes}`)
    .sort();
}

const make = 'mkdir -p dist src; echo a > dist/a; echo long > src/s;';
const socket = `node -e "require('net').createServer().listen('dist/s', () => process.kill(process.pid, 'SIGKILL'))"`;

for (const [name, command, message] of [
  ['a link to a file outside', 'ln -s /etc/passwd dist/p', /^p is a link out of the workspace/],
  ['a link to a file beside the workspace', 'echo > ../beside; ln -s ../../beside dist/p', /^p is a link out of the workspace/],
  [
    'a link whose target only begins like the workspace',
    'mkdir ../build2; echo > ../build2/p; ln -s ../../build2/p dist/p',
    /^p is a link out/,
  ],
  ['a link to a folder outside', 'mkdir dist/sub; ln -s / dist/sub/u', /^sub\/u is a link out of the workspace/],
  ['a link to nothing', 'ln -s nowhere dist/n', /^n is a link to nothing/],
  ['a link to itself', 'ln -s n dist/n', /^n is a link to nothing/],
  ['a link to a folder that holds it', 'mkdir dist/sub; ln -s .. dist/sub/loop', /^sub\/loop is a link to a folder that contains it/],
  ['a pipe', 'mkfifo dist/pipe', /^pipe is no file: a pipe/],
  ['a socket', `${socket}; true`, /^s is no file: a socket/],
  ['a link to a device', 'ln -s /dev/null dist/null', /^null is a link out of the workspace/],
  ['a name that is not UTF-8', 'touch "$(printf "dist/\\377")"', /not UTF-8/],
  [
    'a path without end',
    'cd dist; for i in $(seq 60); do mkdir a-folder-of-a-long-path; cd a-folder-of-a-long-path; done; touch a',
    /more than 1024 bytes/,
  ],
  ['an output folder that is a link out', 'rm -r dist; ln -s / dist', /^dist is a link out of the workspace/],
] as const)
  test(`the output of a build is refused for ${name}`, (t) => {
    assert.throws(() => collected(t, `${make} ${command}`), { code: 'bad_name', message });
  });

test('links to files and folders within the workspace are published as their targets', (t) => {
  assert.deepEqual(collected(t, `${make} ln -s ../src/s dist/s; ln -s ../src dist/deep; ln dist/a dist/same`), [
    'a 2',
    'deep/s 5',
    's 5',
    'same 2',
  ]);
});

test('the folder is the configured one, or the first of the default ones', (t) => {
  assert.deepEqual(collected(t, 'mkdir public out; echo > public/p; echo > out/o'), ['o 1']);
  assert.deepEqual(collected(t, 'mkdir public out; echo > public/p; echo > out/o; echo > dist', 'public'), ['p 1']);
  assert.deepEqual(collected(t, 'echo > dist; echo > p', '.'), ['dist 1', 'p 1']);
  assert.throws(() => collected(t, 'echo > dist'), {
    code: 'build_failed',
    message: 'The build left none of the folders dist, build, out, public',
  });
  assert.throws(() => collected(t, 'true', 'site'), { code: 'build_failed', message: 'The build left no folder site' });
});
