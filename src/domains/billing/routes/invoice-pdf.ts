/** An invoice as a PDF of one page. The default export is a job for a computing process: only there the drawing library is loaded. */
import { isoTimestamp } from '../../../clock.ts';
import { planName } from '../../../plans.ts';
import type { InvoiceRow } from '../../accounts/contract.ts';

/** The printed fields of an invoice. */
export type PrintedInvoice = Pick<
  InvoiceRow,
  'id' | 'plan' | 'billingPeriod' | 'amountMinor' | 'status' | 'createdAt' | 'periodStart' | 'periodEnd' | 'lines'
>;

/** @param customer the recipient */
export async function invoicePdf(invoice: PrintedInvoice, customer: string): Promise<Buffer> {
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
  const [left, right] = [56, 539];
  const drawRow = (text: string, sum: string, font = 'Helvetica') => {
    const top = document.y;
    document.font(font).text(sum, right - 120, top, { width: 120, align: 'right' });
    document.text(text, left, top, { width: right - left - 140 });
    document.y += 8;
  };
  const drawRule = () => {
    document.moveTo(left, document.y).lineTo(right, document.y).lineWidth(0.5).strokeColor('#999999').stroke();
    document.y += 10;
  };
  document.font('Helvetica-Bold').fontSize(22).text('Invoice').moveDown();
  const lines: [string, string][] = [
    ['Number', id],
    ['Date', date(createdAt)],
    ['Customer', printable(customer)],
    ['Plan', `${planName(plan)}, ${billingPeriod}`],
    ['Period', `${date(invoice.periodStart)} to ${date(invoice.periodEnd)}`],
    ['Status', `${status[0]!.toUpperCase()}${status.slice(1)}`],
  ];
  document.fontSize(11);
  for (const [name, value] of lines) {
    const top = document.y;
    document.font('Helvetica-Bold').text(name, left, top, { width: 110 });
    document
      .font('Helvetica')
      .text(value, 170, top, { width: right - 170 })
      .moveDown(0.5);
  }
  document.moveDown(1.5);
  drawRow('Description', 'USD', 'Helvetica-Bold');
  drawRule();
  for (const { description, amountMinor: minor } of invoice.lines) drawRow(printable(description), major(minor));
  drawRule();
  drawRow('Amount', major(amountMinor), 'Helvetica-Bold');
  document.end();
  return ended;
}

export default ({ invoice, customer }: { invoice: PrintedInvoice; customer: string }): Promise<Buffer> => invoicePdf(invoice, customer);

function major(minor: number): string {
  return (minor / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

function date(ms: number): string {
  return isoTimestamp(ms).slice(0, 10);
}

/** The fonts built into every PDF reader have only Latin letters. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?').slice(0, 300);
}
