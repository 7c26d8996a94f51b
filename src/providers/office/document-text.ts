/**
 * The text of a Word document as Markdown: headings, paragraphs, lists and tables in their order. Left out are headers, footers,
 * footnotes, comments, pictures and deleted text. Bounded in characters, beside the bounds of the archive and of XML.
 */
import type { Readable } from 'node:stream';
import { ToolError } from '../../errors.ts';
import { type Attributes, BrokenXml, eachXmlEvent, type XmlHandler } from './xml-events.ts';
import { openArchive, type ZipArchive } from './zip-archive.ts';

const mainPart = 'word/document.xml';
const stylesPart = 'word/styles.xml';
const maxChars = 4_000_000;
const maxStyles = 10_000;
const maxColumns = 200;
const deepestHeading = 6;

export function isDocument(name: string): boolean {
  return /\.docx$/i.test(name);
}

/** Throws `ToolError` for what is no document, is damaged, or is too large. */
export async function documentText(source: Readable, name: string, signal?: AbortSignal): Promise<string> {
  const archive = await openArchive(source, name, signal);
  try {
    const writer = new MarkdownWriter(await stylesOf(archive));
    await eachXmlEvent(archive.text(mainPart), writer);
    return writer.finish();
  } catch (error) {
    if (error instanceof BrokenXml) throw archive.damaged(error.message, error);
    if (error instanceof TooMuchText)
      throw new ToolError(`${name} has more than ${maxChars} characters of text. Save the part that matters and upload that.`, {
        cause: error,
      });
    throw error;
  }
}

class TooMuchText extends Error {}

/** What a paragraph is by its style. */
type Form = { heading: number; isItem: boolean };

/** The forms of paragraph styles by their ids. The names of built-in styles are English in every language of Word. */
async function stylesOf(archive: ZipArchive): Promise<Map<string, Form>> {
  const forms = new Map<string, Form>();
  if (!archive.has(stylesPart)) return forms;
  let form: Form | null = null;
  await eachXmlEvent(archive.text(stylesPart), {
    open(tag, { styleId: id, val = '' }) {
      if (tag === 'style') {
        form = { heading: 0, isItem: false };
        if (id !== undefined && forms.size < maxStyles) forms.set(id, form);
      } else if (form !== null && tag === 'name') {
        form.heading = headingLevel(val) || form.heading;
        form.isItem ||= /^list (?:bullet|number)/i.test(val);
      } else if (form !== null && tag === 'outlineLvl') form.heading ||= levelOf(val);
      else if (form !== null && tag === 'numPr') form.isItem = true;
    },
    close(tag) {
      if (tag === 'style') form = null;
    },
  });
  return forms;
}

function headingLevel(name: string): number {
  return /^title$/i.test(name) ? 1 : Math.min(Number(/^heading ?(\d)$/i.exec(name)?.[1] ?? 0), deepestHeading);
}

/** 0 is the highest outline level; 9 is body text. */
function levelOf(outline: string): number {
  const level = /^\d$/.test(outline) ? Number(outline) : 9;
  return level < deepestHeading ? level + 1 : 0;
}

type Paragraph = { text: string; form: Form };
type Table = { rows: string[][]; row: string[]; cell: string; span: number; isContinued: boolean };

class MarkdownWriter implements XmlHandler {
  private readonly styles: ReadonlyMap<string, Form>;
  private readonly blocks: string[] = [];
  private readonly paragraphs: Paragraph[] = [];
  private readonly tables: Table[] = [];
  private chars = 0;
  private isText = false;
  /** Within elements whose text is not shown, or stands elsewhere once more. */
  private hidden = 0;
  private lastIsItem = false;

  constructor(styles: ReadonlyMap<string, Form>) {
    this.styles = styles;
  }

  open(tag: string, attributes: Attributes): void {
    if (hiddenTags.has(tag)) this.hidden++;
    const paragraph = this.paragraphs.at(-1);
    const table = this.tables.at(-1);
    const { val = '' } = attributes;
    if (tag === 'p') this.paragraphs.push({ text: '', form: { heading: 0, isItem: false } });
    else if (tag === 't') this.isText = true;
    else if (tag === 'tab') this.add(' ');
    else if (tag === 'br' || tag === 'cr') this.add(table === undefined ? '\n' : ' ');
    else if (tag === 'pStyle' && paragraph !== undefined) {
      const { heading, isItem } = this.styles.get(val) ?? { heading: headingLevel(val), isItem: false };
      paragraph.form = { heading: paragraph.form.heading || heading, isItem: paragraph.form.isItem || isItem };
    } else if (tag === 'outlineLvl' && paragraph !== undefined) paragraph.form.heading ||= levelOf(val);
    // A number 0 takes a paragraph out of the list of its style.
    else if (tag === 'numId' && paragraph !== undefined) paragraph.form.isItem = val !== '0';
    else if (tag === 'tbl') this.tables.push({ rows: [], row: [], cell: '', span: 1, isContinued: false });
    else if (table !== undefined) openInTable(table, tag, val);
  }

  text(piece: string): void {
    if (this.isText) this.add(piece);
  }

  close(tag: string): void {
    if (hiddenTags.has(tag)) this.hidden--;
    if (tag === 't') this.isText = false;
    else if (tag === 'p') this.endParagraph();
    else if (tag === 'tbl') this.endTable();
    else if (tag === 'tc' || tag === 'tr') closeInTable(this.tables.at(-1), tag);
  }

  finish(): string {
    return `${this.blocks.join('\n')}\n`;
  }

  private add(text: string): void {
    const paragraph = this.paragraphs.at(-1);
    if (paragraph === undefined || this.hidden > 0) return;
    this.chars += text.length;
    if (this.chars > maxChars) throw new TooMuchText();
    paragraph.text += text;
  }

  private endParagraph(): void {
    const { text, form } = this.paragraphs.pop()!;
    const table = this.tables.at(-1);
    const words = text.trim();
    if (words === '') return;
    if (table !== undefined) table.cell += `${table.cell === '' ? '' : ' '}${words.replace(/\s+/g, ' ')}`;
    else if (form.heading > 0) this.block(`${'#'.repeat(form.heading)} ${words.replace(/\s+/g, ' ')}`, false);
    else this.block(form.isItem ? `- ${words.replaceAll('\n', ' ')}` : words, form.isItem);
  }

  private endTable(): void {
    const { rows } = this.tables.pop()!;
    const outer = this.tables.at(-1);
    // A table within a cell is read as the text of the cell.
    if (outer !== undefined) outer.cell += `${outer.cell === '' ? '' : ' '}${rows.flat().join(' ')}`;
    else if (rows.length > 0) this.block(markdownTable(rows), false);
  }

  /** Blocks are separated by an empty line, items of one list are not. */
  private block(text: string, isItem: boolean): void {
    if (this.blocks.length > 0 && !(isItem && this.lastIsItem)) this.blocks.push('');
    this.blocks.push(text);
    this.lastIsItem = isItem;
  }
}

/** Deleted or moved text, and the second form of a drawing for older programs. */
const hiddenTags = new Set(['del', 'moveFrom', 'Fallback']);

function openInTable(table: Table, tag: string, val: string): void {
  if (tag === 'tr') table.row = [];
  else if (tag === 'tc') Object.assign(table, { cell: '', span: 1, isContinued: false });
  else if (tag === 'gridSpan') table.span = Math.min(Math.max(1, Number(val) || 1), maxColumns);
  else if (tag === 'vMerge') table.isContinued = val !== 'restart';
}

function closeInTable(table: Table | undefined, tag: string): void {
  if (table === undefined) return;
  if (tag === 'tr') {
    if (table.row.length > 0) table.rows.push(table.row);
    return;
  }
  // A cell that is merged with the one above has its text.
  const above = table.isContinued ? table.rows.at(-1)?.[table.row.length] : undefined;
  if (table.row.length < maxColumns) table.row.push(above ?? table.cell, ...Array<string>(table.span - 1).fill(''));
}

function markdownTable(rows: readonly string[][]): string {
  const width = Math.max(...rows.map(({ length }) => length));
  const line = (cells: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, i) => (cells[i] ?? '').replaceAll('|', '\\|')).join(' | ')} |`;
  const [head, ...body] = rows;
  return [line(head!), line(Array<string>(width).fill('---')), ...body.map(line)].join('\n');
}
