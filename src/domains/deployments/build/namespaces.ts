/**
 * The isolation of a build from the service: namespaces of Linux, entered with the programs of util-linux. The build sees a file system in memory of
 * bounded size, with the system's programs and the folders of PATH in it, read only; its own processes; and no network, unless the operator allows it. It
 * sees no DATA_DIR and no process of the service, also if both run as the same user.
 *
 * However that is made (`Means`), the command then enters a user namespace in which it has no rights and can make no further one.
 */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildNiceness } from './inside/processes.ts';
import { isWithin, pathFolders, systemFolders, systemLinks, visiblePath } from './visible-folders.ts';

export const buildHome = '/build';

export type BuildLimits = {
  memoryBytes: number;
  /** Of all files of the build together, and of each. */
  diskBytes: number;
  files: number;
  /** Threads count too. */
  processes: number;
  /** Processes that run at once, longer than a moment: more would take the processors from the service. */
  running: number;
  /** Growth of the machine's shared memory during the build: a process can hold such memory without having it mapped, so that it is not seen as its own. */
  sharedBytes: number;
  /** If the supervisor sends nothing for so long, the build is ended, because its limits are not watched. Without root a build can stop its supervisor. */
  silenceMs: number;
};

/**
 * Who mounts: `root`; the `user` of the service, in a user namespace; or, where root may not mount, another user in such a namespace. As any other user than
 * the service's own, a build has a user id of its own.
 */
export type Means = 'root' | 'user' | 'other user';

export type NamespaceOptions = {
  means: Means;
  /** Of 0 to 9 builds at once, each another: processes are counted by user id. */
  slot: number;
  network: boolean;
  /** The operator's PATH. */
  path: string;
  /** DATA_DIR: it stays hidden where it is below a folder that is seen. */
  dataDir: string;
  limits: BuildLimits;
};

/** Not in use by a distribution: systemd leaves 60578 to 61183 free. */
const firstUid = 60_600;
const ownUid = ({ slot }: NamespaceOptions) => firstUid + slot;
/** As the supervisor and its files see it: in a user namespace the only user is its root. */
const uidOf = (options: NamespaceOptions) => (options.means === 'root' ? ownUid(options) : 0);
const becoming = (uid: number) => ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all'];
/** The user id that a command sees. */
const innerUid = 1_000;
const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin';
const own = '/.troupe';
const serviceFolder = join(import.meta.dirname, '../../../..');
const programs = fileURLToPath(new URL('./inside/', import.meta.url));

/** The program, and its arguments, that starts the supervisor. It dies with the thread that starts it, and everything within dies with it. */
export function supervisorCommand(options: NamespaceOptions): [string, string[]] {
  return entering(options, setUp(options, true));
}

/** The same up to the start of the supervisor: ends with 0 where this machine allows all of it. */
export function trialCommand(options: NamespaceOptions): [string, string[]] {
  return entering(options, setUp(options, false));
}

function entering(options: NamespaceOptions, script: string): [string, string[]] {
  const user = options.means === 'root' ? [] : ['--user', '--map-root-user'];
  const other = options.means === 'other user' ? becoming(ownUid(options)) : ['setpriv'];
  const network = options.network ? [] : ['--net'];
  const unshare = ['unshare', ...user, '--mount', '--pid', '--fork', '--kill-child', '--ipc', '--uts', ...network];
  return ['/usr/bin/env', [`PATH=${systemPath}`, ...other, '--pdeathsig', 'KILL', ...unshare, '/bin/sh', '-c', script]];
}

/** What the supervisor starts a command with; the command is the last argument. */
export function commandPrefix(options: NamespaceOptions): string[] {
  const { limits, path } = options;
  const hidden = hiddenFolders(options);
  const environment = [`PATH=${visiblePath(path, hidden).join(':')}`, `HOME=${buildHome}`, 'CI=1', 'LANG=C.UTF-8'];
  // The caps of the new user namespace are kept for one step: it forbids further ones, in which memory could be taken by mounting.
  const inside = [
    'echo 0 > /proc/sys/user/max_user_namespaces || exit 125',
    'echo 1000 > /proc/self/oom_score_adj',
    `exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all --no-new-privs nice -n ${buildNiceness} env -i ${environment.map(quoted).join(' ')} sh -c "$1" 2>&1`,
  ];
  return [
    ...['/usr/bin/env', `PATH=${systemPath}`, 'prlimit', `--nproc=${limits.processes}`, `--data=${limits.memoryBytes}`],
    ...[`--fsize=${limits.diskBytes}`, '--core=0', '--nofile=4096', '--memlock=65536', '--sigpending=4096', '--msgqueue=0'],
    ...(options.means === 'root' ? becoming(ownUid(options)) : []),
    ...['unshare', '--user', `--map-user=${innerUid}`, `--map-group=${innerUid}`, '--keep-caps', '/bin/sh', '-c', inside.join('\n'), 'sh'],
  ];
}

/** The script that the first process of the namespaces runs. */
function setUp(options: NamespaceOptions, isReal: boolean): string {
  const { means, network, path, limits } = options;
  const uid = uidOf(options);
  const hidden = hiddenFolders(options);
  const ofPath = pathFolders(path, hidden);
  const folders = [...systemFolders(), ...ofPath];
  const root = mountPoint([...folders, process.execPath, programs]);
  const below = (path: string) => quoted(`.${path}`);
  const bindFolder = (path: string) => `mkdir -p ${below(path)} && mount --rbind ${quoted(path)} ${below(path)}`;
  const bindFile = (from: string, to: string) =>
    `mkdir -p ${below(dirname(to))} && : > ${below(to)} && mount --bind ${quoted(from)} ${below(to)}`;
  const covered = hidden.filter((path) => folders.some((folder) => isWithin(folder, path)));
  const settings = [...etcEntries, ...(network ? etcOfNetwork : [])].filter(existsSync);
  const supervisor = `${own}/node --disable-warning=ExperimentalWarning --max-old-space-size=256 ${own}/inside/supervisor.ts ${buildHome} ${uid}`;
  const rights = '--bounding-set=-all,+setuid,+setgid,+setpcap,+kill,+chown,+dac_override,+sys_nice';
  return [
    'set -e',
    `mount -t tmpfs -o mode=755,size=${limits.diskBytes},nr_inodes=${limits.files} tmpfs ${quoted(root)}`,
    `cd ${quoted(root)}`,
    `mkdir -p proc dev/shm etc tmp .${buildHome} .${own}`,
    ...systemLinks().map(([link, target]) => `ln -s ${quoted(target)} ${below(link)}`),
    ...systemFolders().map(bindFolder),
    // Another user may not be able to enter them.
    ...ofPath.map((path) => `{ ${bindFolder(path)}; } 2>/dev/null || :`),
    ...settings.map((path) => (statSync(path).isDirectory() ? bindFolder(path) : bindFile(realpathSync(path), path))),
    ...devices.map((path) => bindFile(path, path)),
    `echo 'root:x:0:0::/:/bin/sh\nbuild:x:${innerUid}:${innerUid}::${buildHome}:/bin/sh' > etc/passwd`,
    `echo 'root:x:0:\nbuild:x:${innerUid}:' > etc/group`,
    bindFile(process.execPath, `${own}/node`),
    bindFolder(programs).replaceAll(below(programs), below(`${own}/inside`)),
    `echo '{"type":"module"}' > .${own}/package.json`,
    everythingReadOnly(root),
    ...covered.map((path) => `mount -t tmpfs -o ro,size=4k tmpfs ${below(path)}`),
    'mount -t proc -o nosuid,nodev,noexec proc proc',
    `chown ${uid}:${uid} .${buildHome} tmp dev/shm`,
    // There may be no such program; then a build cannot call its own servers.
    '{ ip link set lo up || ifconfig lo up; } 2>/dev/null || :',
    'pivot_root . .',
    'umount -l .',
    'cd /',
    isReal ? `set -- ${supervisor}` : `set -- ${commandPrefix(options).map(quoted).join(' ')} :`,
    // The shell stays: it reaps processes whose parents have ended.
    `exec ${means === 'root' ? `setpriv ${rights} --inh-caps=-all` : ''} sh -c '"$@"; exit $?' sh "$@"`,
  ].join('\n');
}

/** What is mounted below `root`, also below a mounted folder: the user of the service may own some of it. Flags that a mount has cannot be taken from it. */
function everythingReadOnly(root: string): string {
  const tried = ['', ',nosuid,nodev', ',nosuid,nodev,noexec'].map((flags) => `mount -o remount,bind,ro${flags} "$point" 2>/dev/null`);
  return [
    'ours=',
    // A mount below another comes after it. Those of the machine that lie below the same folder are covered and stay as they are.
    'while read -r id parent _ _ point _; do',
    '  case " $ours " in',
    `    *" $parent "*) ours="$ours $id"; point=$(printf %b "$point"); ${tried.join(' || ')} || { echo "$point cannot be made read only" >&2; exit 1; } ;;`,
    `    *) [ "$point" != ${quoted(root)} ] || ours=$id ;;`,
    '  esac',
    'done < /proc/self/mountinfo',
  ].join('\n');
}

/** The first folder of the system that shows nothing which a build needs. */
function mountPoint(needed: readonly string[]): string {
  const found = ['/mnt', '/media', '/srv', '/opt', '/tmp', '/var/tmp'].find(
    (path) => existsSync(path) && !needed.some((one) => isWithin(path, one)),
  );
  if (found === undefined) throw new Error('no folder is free to mount the file system of a build on');
  return found;
}

const devices = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'];
/** Of /etc nothing else is seen: settings of the service may be there. */
const etcEntries = [
  'alternatives',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'ssl/certs',
  'ssl/openssl.cnf',
  'ca-certificates',
  'pki/tls/certs',
  'mime.types',
].map((name) => `/etc/${name}`);
const etcOfNetwork = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/services'];

/** By their true paths, those that exist. */
const hiddenFolders = ({ dataDir }: NamespaceOptions) => [dataDir, serviceFolder].filter(existsSync).map((path) => realpathSync(path));
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
