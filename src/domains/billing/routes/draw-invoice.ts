/** Invoices are drawn in the computing processes. */

import { AppError } from '../../../errors.ts';
import { type Compute, type Job, JobStopped } from '../../../providers/compute/port.ts';
import type { InvoiceRow } from '../../accounts/contract.ts';
import type { PrintedInvoice } from './invoice-pdf.ts';

const pdfJob: Job<{ invoice: PrintedInvoice; customer: string }, Uint8Array> = {
  name: 'invoice_pdf',
  module: new URL('./invoice-pdf.ts', import.meta.url),
  timeMs: 10_000,
  wallMs: 200_000,
};

export async function drawInvoice(compute: Compute, row: InvoiceRow, customer: string, signal: AbortSignal): Promise<Uint8Array> {
  const { accountId, id, plan, billingPeriod, amountMinor, status, createdAt, periodStart, periodEnd, lines } = row;
  const invoice = { id, plan, billingPeriod, amountMinor, status, createdAt, periodStart, periodEnd, lines };
  try {
    return await compute.run(pdfJob, { invoice, customer }, { account: accountId, signal });
  } catch (error) {
    if (error instanceof JobStopped) throw new AppError('unavailable', 'The invoice could not be drawn', { cause: error });
    throw error;
  }
}
