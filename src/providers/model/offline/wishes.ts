/** What task and guidance ask of a report: which files, which figures, what to look at, under which name. Pure; later wishes win. */

export type FigureKind = 'sum' | 'mean' | 'median' | 'count' | 'min' | 'max';

/** "the median of amount by region"; `column` is null where only the grouping was named. */
export type FigureWish = { kind: FigureKind; column: string | null; by: string | null; asked: string };

export type Wishes = {
  /** A report, an analysis or a summary is asked for in words. */
  report: boolean;
  figures: FigureWish[];
  /** "focus on region North": a column, where named, and a value. */
  focus: { column: string | null; value: string }[];
  reportPath: string | null;
  /** Guidance that no rule could read. */
  unread: string[];
};

const reportWords =
  /\b(?:analy[sz]e|analysis|analyse|analysieren?|profile|summar(?:y|i[sz]e)|zusammenfass\w*|fasse|report|bericht|stands? out|insights?|findings|explore|describe|overview|statistics|trends?|outliers?|compare|explain|look at|read|review|tell me|examine|investigate|evaluate)\b/i;
/** A file called findings.md asks for nothing. */
const fileName = /[\w-]+\.[a-z]\w{1,4}\b/gi;
const kinds: [FigureKind, RegExp][] = [
  ['median', /\bmedians?\b/i],
  ['mean', /\b(?:averages?|means?|durchschnitt)\b/i],
  ['sum', /\b(?:sums?|totals?|summe)\b/i],
  ['count', /\b(?:counts?|number of (?:rows|records|entries)|how many)\b/i],
  ['max', /\b(?:max(?:imum)?|highest|largest)\b/i],
  ['min', /\b(?:min(?:imum)?|lowest|smallest)\b/i],
];
const word = `["'\`]?([\\w][\\w.-]*(?: \\(\\d\\))?)["'\`]?`;

export function parseWishes(task: string, guidance: readonly string[]): Wishes {
  const wishes: Wishes = { report: reportWords.test(task.replace(fileName, ' ')), figures: [], focus: [], reportPath: null, unread: [] };
  readInto(wishes, task);
  for (const text of guidance) {
    if (readInto(wishes, text)) continue;
    wishes.unread.push(text);
  }
  return wishes;
}

/** File names a text mentions. */
export function mentionedFiles(text: string): string[] {
  return [
    ...new Set(
      (
        text.replace(/https?:\/\/\S+|[\w.+-]+@[\w.-]+/g, ' ').match(/[\w()-][\w ()-]*?\.[A-Za-z]\w{1,7}\b|[\w-]+(?:\.[\w-]+)+/g) ?? []
      ).flatMap((name) => [name, name.split(' ').at(-1)!]),
    ),
  ];
}

/** False when the text held no wish at all. */
function readInto(wishes: Wishes, text: string): boolean {
  const figures = parseFigures(text);
  wishes.figures.push(...figures);
  const focus = [
    ...text.matchAll(
      new RegExp(
        `\\b(?:focus|concentrate)(?: only| mainly)? on\\s+(?:the\\s+)?${word}(?:\\s+(?:is\\s+|=\\s*|only\\s+)?["'\`]?([\\p{L}\\p{N}][\\p{L}\\p{N} _-]*?)["'\`]?)?(?=[.,;!?\\n]|\\s+(?:and|in|when|please)\\b|$)`,
        'giu',
      ),
    ),
  ];
  for (const [, first, second] of focus)
    wishes.focus.push(second ? { column: first!, value: second.trim() } : { column: null, value: first! });
  const named =
    /\b(?:write|save|put|store|call|name|deliver)\b[^.\n]{0,80}?\b(?:it|report|analysis|summary|results?|findings|everything)\b[^.\n]{0,80}?["'`]?\b([\w-]+\.(?:md|markdown|txt))\b/i.exec(
      text,
    );
  if (named !== null) wishes.reportPath = named[1]!;
  return figures.length > 0 || focus.length > 0 || named !== null;
}

function parseFigures(text: string): FigureWish[] {
  const found: FigureWish[] = [];
  const clauses = text.split(
    /[.;!?](?=\s|$)|\n|,?\s+(?:and|then)\s+(?=(?:the\s+)?(?:tell|write|also|median|mean|average|sum|total|count|max|min)\b)/i,
  );
  for (const clause of clauses) {
    const by = new RegExp(`\\b(?:by|per|for each|grouped by|nach|je)\\s+(?:the\\s+)?${word}`, 'i').exec(clause)?.[1] ?? null;
    const which =
      /\b(?:which|what|welche[rsn]?)\s+([\w-]+)\s+(?:has|had|have|sold|sells|made|makes|brought|hat|is|was)\b[^?]{0,80}?\b(?:most|highest|largest|biggest|best|lowest|least|smallest|top|meisten?)\b(?:\s+(?!by\b)(\w+))?/i.exec(
        clause,
      );
    if (which !== null && by === null) {
      // Who leads is seen in the sums by group, in order.
      found.push({ kind: 'sum', column: null, by: which[1]!, asked: clause.trim().slice(0, 120) });
      continue;
    }
    for (const [kind, rule] of kinds) {
      const match = rule.exec(clause);
      if (match === null) continue;
      const rest = clause.slice(match.index + match[0].length);
      const column =
        new RegExp(
          `^\\s+(?:value\\s+)?(?:(?:of|in|for|von|der|des)\\s+)?(?:the\\s+|all\\s+)?(?:column\\s+)?(?!by\\b|per\\b|for\\b|is\\b|in\\b|and\\b)${word}`,
          'i',
        ).exec(rest)?.[1] ?? null;
      if (column === null && by === null) continue;
      found.push({ kind, column, by, asked: clause.trim().slice(0, 120) });
    }
  }
  return found.slice(0, 12);
}
