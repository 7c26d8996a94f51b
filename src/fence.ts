/**
 * The content of the Markdown fence (``` or ```json) that the whole text is; null if the text is not one fence. Scanned by hand: a pattern
 * with white space on both sides of a line break takes cubic time.
 */
export function insideFence(text: string): string | null {
  const fenced = text.trim();
  const firstBreak = fenced.indexOf('\n');
  const lastBreak = fenced.lastIndexOf('\n');
  if (firstBreak === lastBreak || fenced.slice(lastBreak).trim() !== '```') return null;
  const opening = fenced.slice(0, firstBreak).trim().toLowerCase();
  return opening === '```' || opening === '```json' ? fenced.slice(firstBreak, lastBreak).trim() : null;
}
