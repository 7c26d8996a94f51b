/** Closing words that explain why a tool was not used, if a missing scope is the reason. */
import type { WithheldTool } from '../port.ts';

export function withReasons(closing: string, withheld: readonly WithheldTool[]): string {
  let words = closing;
  for (const { name, scope } of withheld) {
    words = words.replaceAll(
      `I was not offered the tool ${name}`,
      `the tool ${name} needs the scope ${scope}, which was not granted for this task`,
    );
  }
  const files = withheld.find(({ name }) => name === 'list_files');
  if (files === undefined || words.includes(files.scope)) return words;
  return `${words}\nI may not look at the files of this workspace: that needs the scope ${files.scope}.`;
}
