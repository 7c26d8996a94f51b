/** The operator's name, as recorded with changes of the database. */
import { hostname, userInfo } from 'node:os';

export function operatorName(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return String(process.getuid?.() ?? 'somebody');
  }
}
