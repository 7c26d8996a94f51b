/** Sums asked in words or signs ("what is 17% of 2,340"), turned into JavaScript for the sandbox. */
import { parseFigure } from './orders.ts';

/** `asked` is the expression as people write it, `code` prints and returns its value. */
export type Arithmetic = { asked: string; code: string };

const asking = /\b(?:what(?:'s| is| are)|how much is|calculate|compute|work out|evaluate|wie viel (?:ist|sind)|berechne)\b/i;
const number = '\\d[\\d,]{0,20}(?:\\.\\d{1,15})?';
const operand = `\\({0,5}-?${number}\\){0,5}`;
const expression = new RegExp(`${operand}(?:\\s*(?:\\*\\*|[*/^+]|\\s-\\s)\\s*${operand})+`, 'g');

/** At most five sums of the text; none where nothing is asked. */
export function parseArithmetic(text: string): Arithmetic[] {
  if (!asking.test(text)) return [];
  const found: Arithmetic[] = [];
  const percent = new RegExp(`(${number})\\s*(?:%|percent|per cent|prozent)\\s*(?:of|von)\\s*[$€£]?(${number})`, 'gi');
  const rest = text.replace(percent, (asked, share: string, base: string) => {
    found.push(arithmetic(asked, `${plain(share)} * ${plain(base)} / 100`));
    return ' ';
  });
  const signs = rest
    .replace(/\bplus\b/gi, '+')
    .replace(/\bminus\b|−|–/gi, ' - ')
    .replace(/\btimes\b|\bmultiplied by\b|×/gi, '*')
    .replace(/\bdivided by\b|÷/gi, '/');
  for (const [asked] of signs.matchAll(expression)) {
    if (!balanced(asked) || /^\d{1,2}\/\d{1,2}\/\d{2,4}$/.test(asked)) continue;
    const code = asked.replaceAll('^', '**').replace(new RegExp(number, 'g'), plain);
    // -2 ** 2 is no JavaScript.
    found.push(arithmetic(asked.trim().replace(/\s+/g, ' '), code.replace(/-(\d[\d.]*)\s*\*\*/g, '(-$1) **')));
  }
  const root = new RegExp(`square root of (${number})`, 'i').exec(rest);
  if (root !== null) found.push(arithmetic(root[0], `Math.sqrt(${plain(root[1]!)})`));
  return found.slice(0, 5);
}

function arithmetic(asked: string, code: string): Arithmetic {
  return { asked, code: `const value = Number((${code}).toPrecision(15));\nconsole.log(JSON.stringify(value));\nvalue;` };
}

function plain(written: string): string {
  return String(parseFigure(written) ?? 0);
}

function balanced(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === '(') depth++;
    if (char === ')' && --depth < 0) return false;
  }
  return depth === 0;
}
