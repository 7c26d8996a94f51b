/**
 * The name under which a durable input stands in its table: that of the command or effect, and the version of the input's form. Version 1 is
 * the name alone, as it was before there were versions; the form of version 2 of `begin` is recorded as `begin@2`. To a node that knows only
 * version 1 it is a name it does not know. The version stands in the name, not in a column of its own, so that a row that an older node
 * replaces cannot keep the version of the input that stood there before.
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
