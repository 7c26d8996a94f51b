/** A text that stands in the task itself. */

const minInlineTextChars = 200;
/** Most characters before the text that a task contains. */
const maxLeadChars = 201;

/** "Summarise this: …" with the text in the task itself. */
export function inlineText(request: string): string | null {
  const task = request.replace(/https?:\/\/\S+/g, '');
  const at = task.slice(0, maxLeadChars).search(/[:\n]/);
  const text = at === -1 ? '' : task.slice(at + 1).trim();
  return text.length >= minInlineTextChars ? text : null;
}
