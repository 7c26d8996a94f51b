/**
 * HTML by a tagged template: a value in `html\`…\`` is escaped unless it is `Html` itself. Escaped text is safe as the content of an
 * element and in a quoted attribute; not in a script, in a style, or as a whole address (`javascript:`).
 */

/** Only `html` and `trustedHtml` create instances, so no value of a request can be mistaken for one. */
export class Html {
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export type HtmlPart = Html | string | number | null | readonly HtmlPart[];

/** `null` becomes nothing; the items of an array are joined without a separator. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  let text = strings[0]!;
  for (let i = 0; i < parts.length; i++) text += written(parts[i]!) + strings[i + 1]!;
  return new Html(text);
}

/** HTML, a script or a style from the program's own source; never from a request, a row or a provider. */
export function trustedHtml(text: string): Html {
  return new Html(text);
}

function written(part: HtmlPart): string {
  if (part instanceof Html) return part.toString();
  if (part === null) return '';
  if (Array.isArray(part)) return part.map(written).join('');
  return String(part).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
