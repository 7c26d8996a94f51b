/** Office files for tests: ZIP archives, and workbooks in the forms that different programs write. */
import { crc32, deflateRawSync } from 'node:zlib';

export type ZipOptions = {
  /** Uncompressed size in the directory, if it is not the true one. */
  claimedBytes?: number;
  /** Added to the offsets in the directory. */
  offsetBy?: number;
  flags?: number;
};

export function zipOf(parts: Record<string, string | Buffer>, { claimedBytes, offsetBy = 0, flags = 0 }: ZipOptions = {}): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    const data = Buffer.from(content);
    const packed = deflateRawSync(data);
    const path = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(flags, 6);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(crc32(data), 14);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(claimedBytes ?? data.length, 22);
    local.writeUInt16LE(path.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    local.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(offset + offsetBy, 42);
    files.push(local, path, packed);
    directory.push(entry, path);
    offset += local.length + path.length + packed.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(directory.length / 2, 8);
  end.writeUInt16LE(directory.length / 2, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, listing, end]);
}

export type SheetCell =
  | string
  | number
  | boolean
  | null
  /** `v`: the stored value; none if it is left out. */
  | { f: string; v?: number | string }
  /** A shared formula: the first cell has `text` and `ref`. */
  | { shared: number; text?: string; ref?: string; v: number }
  | { error: string }
  /** A number with the style of this index in `styles`. */
  | { n: number; s: number };
export type SheetSpec = { name: string; rows: SheetCell[][]; isHidden?: boolean; merged?: string[]; rowsOff?: number; extra?: string };
/** Excel: shared strings, spans and namespaces of extensions. LibreOffice: aca="false" on formulas. Google: no spans. Inline: texts in the cells,
 * no addresses of cells. Prefixed: a prefix on all names. */
export type Writer = 'excel' | 'libreoffice' | 'google' | 'inline' | 'prefixed';

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

export function workbookParts(
  sheets: readonly SheetSpec[],
  { writer = 'excel', formats = [], is1904 = false }: { writer?: Writer; formats?: string[]; is1904?: boolean } = {},
): Record<string, string> {
  const strings: string[] = [];
  const positions = new Map<string, number>();
  const shared = (text: string) => {
    const known = positions.get(text);
    if (known !== undefined) return known;
    positions.set(text, strings.push(text) - 1);
    return strings.length - 1;
  };
  const p = writer === 'prefixed' ? 'x:' : '';
  const ns = writer === 'prefixed' ? `xmlns:x="${main}"` : `xmlns="${main}"`;
  const bodies = sheets.map((sheet) => sheetBody(sheet, writer, p, shared));
  const parts: Record<string, string> = {
    '[Content_Types].xml': `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    '_rels/.rels': `${head}<Relationships><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${head}<${p}workbook ${ns} xmlns:r="${relations}"><${p}workbookPr date1904="${is1904 ? 1 : 0}"/><${p}sheets>${sheets
      .map(
        ({ name, isHidden }, i) =>
          `<${p}sheet name="${escaped(name)}" sheetId="${i + 1}"${isHidden ? ' state="hidden"' : ''} r:id="rId${i + 10}"/>`,
      )
      .join('')}</${p}sheets></${p}workbook>`,
    'xl/_rels/workbook.xml.rels': `${head}<Relationships>${sheets
      .map(
        (_, i) =>
          `<Relationship Id="rId${i + 10}" Type="${relations}/worksheet" Target="${writer === 'libreoffice' ? '/xl/' : ''}worksheets/sheet${i + 1}.xml"/>`,
      )
      .join(
        '',
      )}<Relationship Id="rId1" Type="${relations}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId2" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `${head}<styleSheet xmlns="${main}"><numFmts>${formats.map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${escaped(code)}"/>`).join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats.map((_, i) => `<xf numFmtId="${164 + i}"/>`).join('')}</cellXfs></styleSheet>`,
  };
  for (const [i, body] of bodies.entries())
    parts[`xl/worksheets/sheet${i + 1}.xml`] =
      `${head}<${p}worksheet ${ns} xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac">${body}</${p}worksheet>`;
  parts['xl/sharedStrings.xml'] = `${head}<sst xmlns="${main}" uniqueCount="${strings.length}">${strings
    .map((text, i) =>
      // Excel splits a text where its look changes.
      writer === 'excel' && i % 3 === 2 && text.length > 2
        ? `<si><r><rPr><b/></rPr><t xml:space="preserve">${escaped(text.slice(0, 2))}</t></r><r><t>${escaped(text.slice(2))}</t></r></si>`
        : `<si><t>${escaped(text)}</t></si>`,
    )
    .join('')}</sst>`;
  return parts;
}

export function workbookOf(sheets: readonly SheetSpec[], options: Parameters<typeof workbookParts>[1] = {}): Buffer {
  return zipOf(workbookParts(sheets, options));
}

export function cellAddress(row: number, column: number): string {
  let letters = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return `${letters}${row}`;
}

function sheetBody(
  { rows, merged = [], rowsOff = 0, extra = '' }: SheetSpec,
  writer: Writer,
  p: string,
  shared: (text: string) => number,
): string {
  const cell = (value: SheetCell, row: number, column: number): string => {
    if (value === null && writer !== 'inline') return writer === 'excel' ? `<c r="${cellAddress(row, column)}" s="0"/>` : '';
    const r = writer === 'inline' ? '' : ` r="${cellAddress(row, column)}"`;
    const of = (attributes: string, inner: string) => `<${p}c${r}${attributes}>${inner}</${p}c>`;
    const v = (inner: string | number) => `<${p}v>${inner}</${p}v>`;
    const f = (attributes: string, text: string) =>
      `<${p}f${writer === 'libreoffice' ? ' aca="false"' : ''}${attributes}>${escaped(text)}</${p}f>`;
    if (value === null) return `<${p}c/>`;
    if (typeof value === 'string')
      return writer === 'inline' ? of(' t="inlineStr"', `<is><t>${escaped(value)}</t></is>`) : of(' t="s"', v(shared(value)));
    if (typeof value === 'number') return of(writer === 'libreoffice' ? ' t="n"' : '', v(value));
    if (typeof value === 'boolean') return of(' t="b"', v(value ? 1 : 0));
    if ('error' in value) return of(' t="e"', f('', 'Missing!A1') + v(value.error));
    if ('n' in value) return of(` s="${value.s}"`, v(value.n));
    if ('shared' in value)
      return of(
        '',
        f(` t="shared" si="${value.shared}"${value.ref === undefined ? '' : ` ref="${value.ref}"`}`, value.text ?? '') + v(value.v),
      );
    const stored = value.v === undefined ? '' : v(typeof value.v === 'string' ? escaped(value.v) : value.v);
    return of(typeof value.v === 'string' ? ' t="str"' : '', f('', value.f) + stored);
  };
  const body = rows
    .map((cells, i) => {
      const row = i + 1 + rowsOff;
      const spans = writer === 'excel' ? ` spans="1:${cells.length}" x14ac:dyDescent="0.25"` : '';
      const number = writer === 'inline' ? '' : ` r="${row}"`;
      return cells.length === 0 && writer !== 'inline'
        ? ''
        : `<${p}row${number}${spans}>${cells.map((value, column) => cell(value, row, column + 1)).join('')}</${p}row>`;
    })
    .join('');
  const areas =
    merged.length === 0 ? '' : `<${p}mergeCells>${merged.map((ref) => `<${p}mergeCell ref="${ref}"/>`).join('')}</${p}mergeCells>`;
  return `<${p}dimension ref="A1"/>${extra}<${p}sheetData>${body}</${p}sheetData>${areas}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
