/** An invoice as a PDF of one page. The library that draws it is loaded when the first is asked for. */
import { isoTimestamp } from '../../clock.ts';
import type { InvoiceRow } from '../../storage/entities/checkout.ts';

/** @param customer whom it is made out to */
export async function invoicePdf(invoice: InvoiceRow, customer: string): Promise<Buffer> {
  const { default: PdfDocument } = await import('pdfkit');
  const { id, plan, billingPeriod, amountMinor, status, createdAt } = invoice;
  const created = new Date(createdAt);
  const document = new PdfDocument({ size: 'A4', margin: 56, info: { Title: `Invoice ${id}`, CreationDate: created, ModDate: created } });
  const chunks: Buffer[] = [];
  const ended = new Promise<Buffer>((resolve, reject) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', () => resolve(Buffer.concat(chunks)));
    document.on('error', reject);
  });
  document.fontSize(22).text('Invoice').moveDown();
  const lines: [string, string][] = [
    ['Number', id],
    ['Date', date(createdAt)],
    ['Customer', printable(customer)],
    ['Plan', `${plan}, ${billingPeriod}`],
    ['Period', `${date(invoice.periodStart)} to ${date(invoice.periodEnd)}`],
    ['Amount', `USD ${(amountMinor / 100).toFixed(2)}`],
    ['Status', status],
  ];
  document.fontSize(11);
  for (const [name, value] of lines) {
    const top = document.y;
    document.font('Helvetica-Bold').text(name, 56, top, { width: 110 });
    document.font('Helvetica').text(value, 170, top, { width: 360 }).moveDown(0.5);
  }
  document.end();
  return ended;
}

function date(ms: number): string {
  return isoTimestamp(ms).slice(0, 10);
}

/** The fonts that every reader has know Latin letters alone. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?').slice(0, 300);
}
