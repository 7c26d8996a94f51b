/**
 * The name of a durable input in its table: the command's or effect's name, and the version of the input's schema. Version 1 is the name
 * alone, as before versions existed; version 2 of `begin` is recorded as `begin@2`. A node that knows only version 1 does not know that
 * name. The version is in the name, not in a separate column, so that a row that an older node replaces cannot keep the version of the
 * earlier input.
 */
const separator = '@';

export function recordedName(name: string, version = 1): string {
  return version === 1 ? name : `${name}${separator}${version}`;
}

export function parsedName(recorded: string): { name: string; version: number } {
  const at = recorded.lastIndexOf(separator);
  const version = at === -1 ? 1 : Number(recorded.slice(at + 1));
  return Number.isInteger(version) && version > 0
    ? { name: at === -1 ? recorded : recorded.slice(0, at), version }
    : { name: recorded, version: 1 };
}
