/** A text that was read, with its summary and its facts. */
import type { TextMaterial } from './report.ts';
import { summarise } from './summary.ts';
import { readFacts } from './text/facts.ts';
import { readMailFile } from './text/mail-file.ts';

export function textMaterial(name: string, text: string, totalChars: number, readChars = text.length): TextMaterial {
  return { name, summary: summarise(text), facts: readFacts(text, name), text, totalChars, readChars };
}

/** Of a stored mail its headers and its plain body; `problem` says what of the file is not read. */
export function fileMaterial(name: string, text: string, totalChars: number): { material: TextMaterial; problem: string | null } {
  if (!/\.eml$/i.test(name)) return { material: textMaterial(name, text, totalChars), problem: null };
  const mail = readMailFile(text);
  return { material: textMaterial(name, mail.text, totalChars, text.length), problem: mail.problem };
}
