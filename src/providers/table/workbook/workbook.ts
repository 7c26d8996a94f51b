/** A workbook (.xlsx): its sheets, in order. Everything is read once and kept; what does not fit the bounds is refused as a whole. */
import type { Readable } from 'node:stream';
import { ToolError } from '../../../errors.ts';
import { BrokenXml, eachXmlEvent, type XmlHandler } from '../../office/xml-events.ts';
import { openArchive, relatedPart, type ZipArchive } from '../../office/zip-archive.ts';
import { type NumberForm, numberForm } from './number-forms.ts';
import { maxCellChars, newBudget, type SharedParts, type Sheet, SheetReader, TooManyCells, textOf } from './sheet.ts';

export type Workbook = { sheets: Sheet[]; is1904: boolean; sizeBytes: number; notes: string[] };

const maxSheets = 200;
const maxStyles = 70_000;
const maxRelations = 2_000;

export function isWorkbook(name: string): boolean {
  return /\.xls[xm]$/i.test(name);
}

/** Throws `ToolError` for what is no workbook, is damaged, or is too large. */
export async function readWorkbook(source: Readable, name: string, signal?: AbortSignal): Promise<Workbook> {
  const archive = await openArchive(source, name, signal);
  try {
    return await readParts(archive, name, signal);
  } catch (error) {
    if (error instanceof BrokenXml) throw archive.damaged(error.message, error);
    if (error instanceof TooManyCells)
      throw new ToolError(`${name} has too many cells to be read. Save the sheet that matters as CSV and upload that.`, { cause: error });
    throw error;
  }
}

async function readParts(archive: ZipArchive, name: string, signal?: AbortSignal): Promise<Workbook> {
  const main = await mainPart(archive);
  const relations = await relationsOf(archive, main);
  const { entries, is1904 } = await entriesOf(archive, main);
  const budget = newBudget();
  const part = (kind: string) => [...relations.values()].find(({ type }) => type.endsWith(`/${kind}`))?.part;
  const strings = await stringsOf(archive, part('sharedStrings'), budget);
  const shared: SharedParts = { strings, forms: await formsOf(archive, part('styles')), budget };
  const sheets: Sheet[] = [];
  const notes: string[] = [];
  for (const { title, relation, isHidden } of entries) {
    signal?.throwIfAborted();
    const target = relations.get(relation);
    if (target === undefined || !target.type.endsWith('/worksheet')) {
      notes.push(`The sheet "${title}" has no cells in the file (a chart, or a sheet elsewhere); it is not read.`);
      continue;
    }
    const sheet: Sheet = {
      name: title,
      isHidden,
      rows: [],
      formulas: new Map(),
      errors: new Set(),
      merged: [],
      hiddenRows: new Set(),
      hiddenColumns: new Set(),
    };
    const reader = new SheetReader(sheet, shared);
    await eachXmlEvent(archive.text(target.part), reader);
    reader.finish();
    sheets.push(sheet);
  }
  if (sheets.length === 0) throw new ToolError(`${name} has no sheet with cells.`);
  return { sheets, is1904, sizeBytes: archive.sizeBytes, notes };
}

type Relation = { type: string; part: string };

async function mainPart(archive: ZipArchive): Promise<string> {
  if (archive.has('_rels/.rels'))
    for (const { type, part } of (await relationsOf(archive, '')).values())
      if (type.endsWith('/officeDocument') && archive.has(part)) return part;
  return 'xl/workbook.xml';
}

/** The relations of a part that lead to other parts of the file. Those that lead elsewhere are left out: nothing outside is ever read. */
async function relationsOf(archive: ZipArchive, from: string): Promise<Map<string, Relation>> {
  const slash = from.lastIndexOf('/') + 1;
  const part = `${from.slice(0, slash)}_rels/${from.slice(slash)}.rels`;
  const relations = new Map<string, Relation>();
  if (!archive.has(part)) return relations;
  await eachXmlEvent(archive.text(part), {
    open(tag, { Id: id, Type: type, Target: target, TargetMode: mode }) {
      if (tag !== 'Relationship' || id === undefined || type === undefined || target === undefined || mode === 'External') return;
      if (relations.size < maxRelations) relations.set(id, { type, part: relatedPart(from, target) });
    },
  });
  return relations;
}

async function entriesOf(archive: ZipArchive, main: string) {
  const entries: { title: string; relation: string; isHidden: boolean }[] = [];
  let is1904 = false;
  await eachXmlEvent(archive.text(main), {
    open(tag, attributes) {
      if (tag === 'workbookPr') is1904 = attributes.date1904 === '1' || attributes.date1904 === 'true';
      if (tag !== 'sheet' || entries.length >= maxSheets) return;
      const { name = `Sheet${entries.length + 1}`, id = '', state = 'visible' } = attributes;
      entries.push({ title: name.slice(0, 120), relation: id, isHidden: state !== 'visible' });
    },
  });
  return { entries, is1904 };
}

async function stringsOf(archive: ZipArchive, part: string | undefined, budget: SharedParts['budget']): Promise<string[]> {
  const strings: string[] = [];
  if (part === undefined || !archive.has(part)) return strings;
  let text = '';
  let isText = false;
  let isPhonetic = false;
  const handler: XmlHandler = {
    open(tag) {
      if (tag === 'si') text = '';
      else if (tag === 'rPh') isPhonetic = true;
      else if (tag === 't') isText = !isPhonetic;
    },
    text(piece) {
      if (isText) text = (text + piece).slice(0, maxCellChars);
    },
    close(tag) {
      if (tag === 't') isText = false;
      else if (tag === 'rPh') isPhonetic = false;
      else if (tag === 'si') {
        budget.chars -= text.length;
        budget.seen -= 1;
        if (budget.chars < 0 || budget.seen < 0) throw new TooManyCells();
        strings.push(textOf(text) ?? '');
      }
    },
  };
  await eachXmlEvent(archive.text(part), handler);
  return strings;
}

/** The form of numbers for each style of cells. */
async function formsOf(archive: ZipArchive, part: string | undefined): Promise<NumberForm[]> {
  const codes = new Map<number, string>();
  const forms: NumberForm[] = [];
  if (part === undefined || !archive.has(part)) return forms;
  let isCellStyles = false;
  await eachXmlEvent(archive.text(part), {
    open(tag, attributes) {
      if (tag === 'numFmt' && codes.size < maxStyles) codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
      else if (tag === 'cellXfs') isCellStyles = true;
      else if (tag === 'xf' && isCellStyles && forms.length < maxStyles) {
        const id = Number(attributes.numFmtId ?? 0);
        forms.push(numberForm(id, codes.get(id)));
      }
    },
    close(tag) {
      if (tag === 'cellXfs') isCellStyles = false;
    },
  });
  return forms;
}
