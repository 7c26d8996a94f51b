/**
 * Two versions of the program in one cluster: nodes are replaced by the other version, in both directions, as in a rolling deploy and
 * its rollback.
 */
import type { EarlierVersion } from '../support/earlier-version.ts';
import { type NodeProcess, ownProgram } from '../support/node-process.ts';

export function versionOf(node: NodeProcess): 'this version' | 'the earlier version' {
  return node.program === ownProgram ? 'this version' : 'the earlier version';
}

/** What its next start runs. */
export function changeVersion(node: NodeProcess, earlier: EarlierVersion): void {
  node.program = node.program === ownProgram ? earlier.program : ownProgram;
}
