import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createCodeExec } from '../../../../src/domains/tasks/tools/code-exec.ts';
import { noLog } from '../../../../src/log.ts';
import { createSandboxPool } from '../../../../src/providers/sandbox/pool.ts';
import type { SandboxPool, SandboxResult } from '../../../../src/providers/sandbox/port.ts';
import { memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';

const directory = mkdtempSync(join(tmpdir(), 'sandbox-'));
let pool: SandboxPool;
/** For code that runs until it is stopped. */
let hurried: SandboxPool;
/** For code that computes for long, on a busy machine too. */
let patient: SandboxPool;
before(() => {
  pool = createSandboxPool({ directory, log: noLog, timeMs: 5000 });
  hurried = createSandboxPool({ directory, log: noLog, timeMs: 1_000 });
  patient = createSandboxPool({ directory, log: noLog, timeMs: 60_000 });
});
after(async () => {
  await Promise.all([pool, hurried, patient].map((one) => one.close()));
  assert.deepEqual(readdirSync(directory), []);
  rmSync(directory, { recursive: true });
});

function exec(code: string, workspace = memoryWorkspace(), by = pool): Promise<SandboxResult> {
  return createCodeExec(by).run({ code }, toolContext(workspace)) as Promise<SandboxResult>;
}

describe('the result of the code', () => {
  const answers: [string, string, unknown][] = [
    ['the last expression', 'const a = 2; a * 21', 42],
    ['an object', '({ sum: [1, 2, 3].reduce((a, b) => a + b) })', { sum: 6 }],
    ['an awaited value', 'const x = await Promise.resolve(5); x + 1', 6],
    ['a promise', '(async () => { await null; return [1]; })()', [1]],
    ['a top-level return', 'const a = 1;\nreturn a + 1', 2],
    ['nothing', 'const quiet = 1', null],
    ['a function, which is no JSON', '(() => 1)', null],
    ['not a number, which is no JSON', '0 / 0', null],
  ];
  for (const [name, code, result] of answers) {
    test(`${name} becomes the result`, async () => {
      assert.deepEqual(await exec(code), { stdout: '', result, error: null });
    });
  }

  test('console.log goes to stdout, objects as JSON', async () => {
    assert.deepEqual(await exec('console.log("a", 1, { b: [2] }, null, undefined, 10n); console.error("e")'), {
      stdout: 'a 1 {"b":[2]} null undefined 10\ne\n',
      result: null,
      error: null,
    });
  });

  const failures: [string, string, RegExp][] = [
    ['a thrown error', 'let a = 1;\nthrow new RangeError("too much")', /^RangeError: too much \(line 2\)$/],
    ['a syntax error', 'let a = 1;\nlet b = ;', /^SyntaxError: .*\(line 2\)$/],
    ['an error in a promise', '(async () => {\n\nnull.x })()', /^TypeError: .*\(line 3\)$/],
    ['a thrown string', 'throw "plain"', /plain/],
    ['a result that refers to itself', 'const a = {}; a.a = a; a', /not JSON: .*circular/],
    ['a promise that never settles', 'await new Promise(() => {})', /nothing here will ever settle/],
    ['an error that throws when it is read', 'throw { get message() { throw 1 }, get stack() { throw 2 } }', /./],
  ];
  for (const [name, code, error] of failures) {
    test(`${name} is reported as the error`, async () => {
      const outcome = await exec(code);
      assert.match(outcome.error ?? '', error);
      assert.equal(outcome.result, null);
    });
  }

  test('an error whose stack never ends is reported without its stack', async () => {
    const outcome = await exec('throw { get stack() { for (;;) {} }, message: "m" }', undefined, hurried);
    assert.match(outcome.error!, /^Error: m$|time limit/);
  });

  test('output before a failure is kept', async () => {
    const outcome = await exec('console.log("step 1"); for (;;) {}', undefined, hurried);
    assert.equal(outcome.stdout, 'step 1\n');
    assert.match(outcome.error!, /time limit/);
  });
});

describe('the workspace', () => {
  test('files are read, written and listed, with and without await', async () => {
    const workspace = memoryWorkspace({ 'in.csv': 'a,b\n1,2\n' });
    const outcome = await exec(
      'const t = await readFile("in.csv"); const w = writeFile("out.txt", t.toUpperCase()); [w, (await listFiles()).map((f) => f.name)]',
      workspace,
    );
    assert.deepEqual(outcome.result, [{ path: 'out.txt', size_bytes: 8, version: 1 }, ['in.csv', 'out.txt']]);
    assert.equal(workspace.text('out.txt'), 'A,B\n1,2\n');
  });

  test('surrogate pairs, quotes, line ends and null characters are stored unchanged', async () => {
    const workspace = memoryWorkspace();
    const outcome = await exec(
      String.raw`writeFile('x', '"\n\r\u0000\u2028é😀'); console.log('a\u0000b'); writeFile('y', '"\n\r\u2028é😀'); readFile('y')`,
      workspace,
    );
    assert.deepEqual([outcome.result, outcome.stdout], ['"\n\r\u2028é😀', 'a\u0000b\n']);
    assert.equal(workspace.text('x'), '"\n\r\u0000\u2028é😀');
  });

  for (const path of ['../secret', '/etc/passwd', 'a/../b', '..', 'x\\y', 'x\u0000', '']) {
    test(`the path ${JSON.stringify(path)} is refused inside the code`, async () => {
      const workspace = memoryWorkspace();
      const outcome = await exec(
        `const seen = []; for (const f of [() => readFile(${JSON.stringify(path)}), () => writeFile(${JSON.stringify(path)}, 'x')]) { try { f(); seen.push('done') } catch (e) { seen.push(e.message) } } seen`,
        workspace,
      );
      assert.ok(Array.isArray(outcome.result) && !outcome.result.includes('done'), JSON.stringify(outcome));
      assert.equal(workspace.files.size, 0);
    });
  }

  test('ten thousand writes end with an error after a hundred', async () => {
    const workspace = memoryWorkspace();
    const outcome = await exec('for (let i = 0; i < 10000; i++) writeFile("f" + i, "x")', workspace);
    assert.match(outcome.error!, /one run may write 100 files/);
    assert.equal(workspace.files.size, 100);
  });

  test('endless listing ends with an error', async () => {
    assert.match((await exec('for (;;) listFiles()')).error!, /file calls/);
  });

  test('a huge text is refused and the code continues', async () => {
    const workspace = memoryWorkspace();
    const outcome = await exec('let said; try { writeFile("big", "x".repeat(20e6)) } catch (e) { said = e.message } said', workspace);
    assert.match(String(outcome.result), /too large/);
    assert.equal(workspace.files.size, 0);
  });

  test('a binary file is refused with its type', async () => {
    const outcome = await exec('readFile("p.png")', memoryWorkspace({ 'p.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]) }));
    assert.match(outcome.error!, /looks like a PNG image/);
  });

  test('a storage failure ends the run as a defect and is not shown to the code', async () => {
    const workspace = memoryWorkspace();
    workspace.list = () => Promise.reject(new Error('password=hunter2'));
    await assert.rejects(exec('try { listFiles() } catch (e) { e.message }', workspace), /hunter2/);
  });
});

describe('abuse', () => {
  test('nothing of the host can be reached', async () => {
    const names = [
      'process',
      'require',
      'fetch',
      'setTimeout',
      'WebAssembly',
      'Deno',
      'module',
      'global',
      'XMLHttpRequest',
      'print',
      'callFile',
    ];
    assert.deepEqual(
      (await exec(`[${names.map((name) => `typeof ${name}`).join(', ')}]`)).result,
      names.map(() => 'undefined'),
    );
  });

  const escapes: [string, string][] = [
    ['import()', 'await import("node:fs")'],
    ['import of a file', 'await import("/etc/passwd")'],
    ['the function constructor', 'readFile.constructor("return process")()'],
    ['the constructor of a host function', 'console.log.constructor.constructor("return this.process.env")()'],
    [
      'the constructor of an error of the host',
      'try { readFile("none") } catch (e) { e.constructor.constructor("return process")().exit(3) }',
    ],
  ];
  for (const [name, code] of escapes) {
    test(`${name} finds no way out`, async () => {
      const outcome = await exec(code);
      assert.equal(outcome.result, null);
      assert.match(outcome.error!, /Error/);
    });
  }

  test('changes of prototypes affect only the run that makes them', async () => {
    const code = `JSON.stringify = () => 'x'; JSON.parse = () => 1; Object.prototype.op = 'done'; Array.prototype.map = null; String.prototype.slice = null;
      Promise.prototype.then = null; Object.prototype.toJSON = undefined; [listFiles().length, 7]`;
    const outcome = await exec(code, memoryWorkspace({ a: '1' }));
    assert.deepEqual(outcome, { stdout: '', result: [1, 7], error: null });
  });

  const endless: [string, string][] = [
    ['an endless loop', 'for (;;) {}'],
    ['endless promises', '(async () => { for (;;) await 0 })()'],
    ['a regular expression that explodes', '/^(a+)+$/.test("a".repeat(50) + "b")'],
    ['an endless toJSON', '({ toJSON() { for (;;) {} } })'],
    ['an endless sort', '[3, 2, 1].sort(() => { for (;;) {} })'],
    ['a loop that catches its own end', 'for (;;) { try { for (;;) {} } catch {} finally { continue } }'],
    ['a native join without end', 'new Array(2 ** 31).join("")'],
    ['a native loop that never looks up', 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'],
    ['a native copy that never looks up', 'Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)'],
    ['a proxy without end', 'const p = new Proxy({}, { getPrototypeOf: () => p }); for (;;) Object.getPrototypeOf(p)'],
  ];
  for (const [name, code] of endless) {
    test(`${name} is stopped at the time limit`, async () => {
      assert.match((await exec(code, undefined, hurried)).error!, /time limit/);
    });
  }

  const bombs: [string, string][] = [
    ['arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e6))'],
    ['strings', 'let a = "x"; for (;;) a += a'],
    ['array lengths', 'const a = []; for (;;) a.push(new Array(1e6).fill(1.5))'],
    ['objects', 'let a = []; for (;;) a.push({ a })'],
    ['big integers', 'let a = 2n; for (;;) a = a * a'],
    ['promises that wait for each other', 'const f = () => Promise.resolve().then(f); f()'],
    ['recursion', 'const f = () => f() + 1; f()'],
    ['nested JSON', 'let a = []; for (let i = 0; i < 1e6; i++) a = [a]; JSON.stringify(a)'],
    ['nested brackets in code', `eval('['.repeat(1e6))`],
    ['nested groups in a pattern', 'new RegExp("(".repeat(1e5) + ")".repeat(1e5))'],
    ['bound functions', 'let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null); f()'],
  ];
  for (const [name, code] of bombs) {
    test(`a memory bomb of ${name} ends with an error and affects no other run`, async () => {
      const outcome = await exec(code);
      assert.ok(outcome.error, JSON.stringify(outcome).slice(0, 200));
      assert.equal((await exec('1 + 1')).result, 2);
    });
  }

  test('too much output is cut with a note', async () => {
    const outcome = await exec('for (let i = 0; i < 1e5; i++) console.log("line " + i)', undefined, patient);
    assert.match(outcome.stdout, /\[output cut at 65536 characters\]$/);
    assert.ok(outcome.stdout.length < 66_000);
    assert.equal(outcome.error, null);
  });

  test('one line of output larger than every buffer is cut', async () => {
    const outcome = await exec('console.log("x".repeat(30e6)); "on"', undefined, patient);
    assert.match(outcome.stdout, /\[output cut/);
    assert.equal(outcome.result, 'on');
  });

  test('a huge result is cut with a note', async () => {
    assert.match(String((await exec('"x".repeat(1e6)')).result), /cut: 1000002 characters/);
  });

  test('two runs share no state', async () => {
    await exec('globalThis.left = 1; Object.prototype.left = 1');
    assert.equal((await exec('typeof left + typeof ({}).left')).result, 'undefinedundefined');
  });
});

describe('the process around the code', { skip: process.platform === 'linux' ? false : 'reads /proc' }, () => {
  test('it has the limits, no environment but a fixed time zone, and an empty working directory', async () => {
    await exec('1');
    const pid = pool.pids()[0]!;
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    const limit = (name: string) => new RegExp(`${name} +(\\S+) +(\\S+)`).exec(limits)?.slice(1);
    assert.deepEqual(limit('Max core file size'), ['0', '0']);
    assert.deepEqual(limit('Max file size'), ['0', '0']);
    assert.deepEqual(limit('Max cpu time'), ['13', '13']);
    assert.deepEqual(limit('Max open files'), ['48', '48']);
    assert.equal(Number(limit('Max data size')?.[0]), 428 * 2 ** 20);
    assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), 'TZ=UTC\0');
    assert.equal(readlinkSync(`/proc/${pid}/cwd`), directory);
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    assert.ok(words.includes('--permission') && words.includes('--disallow-code-generation-from-strings'));
    const readable = words.filter((word) => word.startsWith('--allow-fs-read='));
    assert.ok(readable.length > 0 && readable.every((word) => /(sandbox\/\*|quickjs[\w-]*(\/\*)?)$/.test(word)), readable.join());
    assert.ok(!words.some((word) => /--allow-(fs-write|child-process|addons|wasi)/.test(word)));
  });
});
