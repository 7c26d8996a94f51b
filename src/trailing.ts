/** `text` without the characters of `chars` at its end. A pattern for that, such as `/\/+$/`, takes time that grows with the square of a long run. */
export function withoutTrailing(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
