/**
 * The user under which a browser runs, and whether it uses its own sandbox. The sandbox needs namespaces that an unprivileged user may create.
 * A service that runs as root can use both an unprivileged user and the sandbox; one of another user has only the sandbox, and starts no browser without it.
 */
export type BrowserUser = {
  /** null: the service's own. */
  uid: number | null;
  sandbox: boolean;
  /** The sandbox confines code that escapes from the browser's own checks. */
  isSafe: boolean;
};

/** The user `nobody` of every Linux. */
const nobodyUid = 65_534;

/** In order of preference. */
export function browserUsers(startsChromium: boolean, isRoot = process.getuid?.() === 0): BrowserUser[] {
  if (!startsChromium || !isRoot) return [{ uid: null, sandbox: true, isSafe: true }];
  return [
    { uid: nobodyUid, sandbox: true, isSafe: true },
    // In containers that forbid namespaces.
    { uid: nobodyUid, sandbox: false, isSafe: true },
    // Where this program's files are only for root.
    { uid: null, sandbox: false, isSafe: false },
  ];
}
