/** Plain orders, as rules find them in a text: mails, purchases, files to write, addresses to read, things to search. Pure; knows no tools. */

export type MailOrder = { to: string; subject: string | null; message: string | null };
export type PurchaseOrder = { description: string; amount: number; vendor: string };
export type FileOrder = { path: string; content: string };

export type Orders = { mails: MailOrder[]; purchases: PurchaseOrder[]; files: FileOrder[]; urls: string[]; search: string | null };

const address = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const mailClause =
  /\b(?:e-?mail|mail|send|forward|schicken?|sende|maile)\b[^\n]{0,300}?@[\w-]+(?:\.[\w-]+)+(?:[^\n.@]{0,60}?(?:,| and| &|;)\s*[\w.+-]+@[\w-]+(?:\.[\w-]+)+)*/gi;
const forbidden = /\b(?:do not|don't|never|without|not)\s+(?:to\s+)?$/i;
const longestQuery = 300;

export function parseOrders(text: string): Orders {
  const urls = findUrls(text);
  return {
    mails: parseMails(text),
    purchases: parsePurchases(text),
    files: parseFiles(text),
    urls,
    search: urls.length > 0 ? null : parseSearch(text),
  };
}

/** The text without its mail orders, so that another agent can be given the rest. */
export function withoutMailOrders(text: string): string {
  const connective = /(?:[,;]\s*)?(?:\b(?:and|then|afterwards|finally|please|also|und|dann|bitte)\b[\s,]*)*$/i;
  let rest = '';
  let from = 0;
  for (const match of text.matchAll(mailClause)) {
    if (forbidden.test(text.slice(0, match.index))) continue;
    rest += text.slice(from, match.index).replace(connective, '');
    from = match.index + match[0].length;
    // What the mail says belongs to the mail.
    const tail = /^\s*(?:with (?:the )?subject|saying|that says)[^\n.]*/i.exec(text.slice(from));
    from += tail?.[0].length ?? 0;
  }
  return (rest + text.slice(from)).trim();
}

export function findUrls(text: string): string[] {
  const found = [...text.matchAll(/https?:\/\/[^\s<>"'`]+/gi)].map(([url]) => url.replace(/[).,;:!?\]]+$/, ''));
  return [...new Set(found)].slice(0, 5);
}

export function findAddresses(text: string): string[] {
  return [...new Set(text.match(address) ?? [])];
}

/** An amount of money as written: "$1,200.50", "120 dollars", "1.200,50 €"; null when there is none. */
export function parseAmount(text: string): number | null {
  const match = /(?:[$€£]|\busd\b|\beur\b)\s*(\d[\d.,]*)|(\d[\d.,]*)\s*(?:[$€£]|dollars?|usd|euros?|eur|pounds?|gbp)/i.exec(text);
  return match === null ? null : parseFigure((match[1] ?? match[2])!);
}

/** "2,340" and "2.340,5" and "1.5" as a number. */
export function parseFigure(written: string): number | null {
  const text = written.replace(/[.,]+$/, '');
  const comma = /^\d{1,3}(?:\.\d{3})+,\d+$|^\d+,\d{1,2}$/.test(text);
  const value = Number(comma ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', ''));
  return Number.isFinite(value) ? value : null;
}

function parseMails(text: string): MailOrder[] {
  const mails: MailOrder[] = [];
  for (const match of text.matchAll(mailClause)) {
    if (forbidden.test(text.slice(0, match.index))) continue;
    const after = text.slice(match.index, match.index + match[0].length + 2000);
    const subject = /\bsubject\s*(?:line\s*)?:?\s*(?:"([^"\n]+)"|“([^”\n]+)”|'([^'\n]+)')/i.exec(after);
    const message =
      /\b(?:saying|that says|with the (?:text|message|words)|telling (?:them|him|her|her that|him that))\s*:?\s*(?:"([^"]+)"|“([^”]+)”|'([^'\n]+)'|([^\n]+))/i.exec(
        after,
      );
    for (const to of findAddresses(match[0])) {
      if (!mails.some((mail) => mail.to === to)) mails.push({ to, subject: firstGroup(subject), message: firstGroup(message) });
    }
  }
  return mails.slice(0, 10);
}

function parsePurchases(text: string): PurchaseOrder[] {
  const money = '((?:[$€£]\\s?)?\\d[\\d.,]{0,20}\\s?(?:[$€£]|dollars?|usd|euros?|eur|pounds?|gbp)?)(\\s*(?:each|apiece|per \\w+))?';
  const forms = [
    {
      rule: new RegExp(
        `\\b(?:order|buy|purchase|get)\\s+([^\\n.]{1,160}?)\\s+from\\s+([^\\n]{1,80}?)\\s+(?:for|at|costing)\\s+(?:a total of\\s+)?${money}`,
        'gi',
      ),
      vendor: 2,
      amount: 3,
    },
    {
      rule: new RegExp(
        `\\b(?:order|buy|purchase|get)\\s+([^\\n.]{1,160}?)\\s+(?:for|at|costing)\\s+(?:a total of\\s+)?${money}\\s+from\\s+([^\\n.,;]+)`,
        'gi',
      ),
      vendor: 4,
      amount: 2,
    },
  ];
  const found: PurchaseOrder[] = [];
  for (const { rule, vendor, amount } of forms) {
    for (const match of text.matchAll(rule)) {
      if (forbidden.test(text.slice(0, match.index)) || /\b(?:shares?|stocks?)\b/i.test(match[1]!)) continue;
      const figure = parseFigure(match[amount]!.replace(/[^\d.,]/g, ''));
      const each = match[amount + 1] !== undefined;
      const quantity = Number(/^(\d+)\b/.exec(match[1]!)?.[1] ?? 1);
      if (figure !== null)
        found.push({
          description: match[1]!.trim(),
          amount: Math.round(figure * (each ? quantity : 1) * 100) / 100,
          vendor: match[vendor]!.trim(),
        });
    }
  }
  return found.slice(0, 10);
}

function parseFiles(text: string): FileOrder[] {
  const rule =
    /\b(?:write|create|save|make)\s+(?:me\s+)?(?:a\s+|an\s+|the\s+)?(?:new\s+)?(?:text\s+)?(?:file\s+|note\s+)?(?:called\s+|named\s+)?["'`]?([\w-][\w.-]*\.\w{1,8})["'`]?\s+(?:with|containing|saying|that says)(?:\s+the)?(?:\s+(?:text|contents?|words|lines?))?\s*:?\s*(?:"([^"]+)"|“([^”]+)”|'([^']+)'|```\w*\n([\s\S]+?)```|([^\n]+))/gi;
  return [...text.matchAll(rule)]
    .map((match) => ({ path: match[1]!, content: (match[2] ?? match[3] ?? match[4] ?? match[5] ?? match[6] ?? '').trim() }))
    .slice(0, 10);
}

function parseSearch(text: string): string | null {
  const match =
    /\b(?:search(?: the web| online| the internet)?(?: for)?|research|look up|find out(?: about)?|google|find (?:information|news|facts) (?:on|about))\s+(.+)/i.exec(
      text,
    );
  const query = match?.[1]?.split(/\n|(?:[,;.]\s*|\s+and\s+)(?:then|write|summari[sz]e|report|e-?mail|send|tell)\b/i)[0]?.trim();
  if (query) return query.replace(/[.?!]+$/, '').slice(0, longestQuery);
  const question =
    /^\s*((?:who|when|where|which|what)\b[^\n?]*\b(?:latest|current|today|news|president|capital|population|price of|weather|founded|ceo)\b[^\n?]*)\?/i.exec(
      text,
    );
  return question?.[1]?.trim().slice(0, longestQuery) ?? null;
}

function firstGroup(match: RegExpExecArray | null): string | null {
  return (
    match
      ?.slice(1)
      .find((group) => group !== undefined)
      ?.trim() ?? null
  );
}
