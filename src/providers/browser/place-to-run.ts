/**
 * As which user a browser runs, and whether it confines itself: by its own sandbox, which needs namespaces that a plain user may make, and by
 * a user that may do nothing else. A service of root has that user; another user has only the sandbox, and starts no browser without it.
 */
export type PlaceToRun = {
  /** null: the service's own. */
  uid: number | null;
  sandbox: boolean;
  /** Pages that break out of the browser's own checks are confined all the same. */
  isSafe: boolean;
};

/** `nobody`, on every Linux. */
const nobodyUid = 65_534;

/** The best one first. */
export function placesToRun(startsChromium: boolean, isRoot = process.getuid?.() === 0): PlaceToRun[] {
  if (!startsChromium || !isRoot) return [{ uid: null, sandbox: true, isSafe: true }];
  return [
    { uid: nobodyUid, sandbox: true, isSafe: true },
    // In containers that forbid namespaces.
    { uid: nobodyUid, sandbox: false, isSafe: true },
    // Where this program's files are only for root.
    { uid: null, sandbox: false, isSafe: false },
  ];
}
