/** Invoices: listed, and downloaded as PDF by a link that works for an hour. */

import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { contentDisposition } from '../../../edge/http/download.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError } from '../../../errors.ts';
import { toMajor } from '../../../money.ts';
import type { Database } from '../../../storage/database.ts';
import { accountsIds, Invoice, type InvoiceRow } from '../../accounts/contract.ts';
import { type DownloadLinks, linkAdvice } from '../../workspaces/contract.ts';

const InvoiceView = Type.Object(
  {
    id: Type.String(),
    amount: Type.Number({ description: 'USD' }),
    lines: Type.Array(Type.Object({ description: Type.String(), amount: Type.Number() }), {
      description: 'The items of the amount; a negative item is unused time of an earlier plan, or credit',
    }),
    status: Type.Enum(['paid', 'open', 'void']),
    period_start: Type.String({ format: 'date' }),
    period_end: Type.String({ format: 'date', description: 'The first day after it' }),
    pdf_url: Type.String({ description: 'Usable for an hour without an Authorization header' }),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Invoice' },
);
const scope = 'billing.read';

export type InvoiceRouteParts = {
  database: Database;
  links: DownloadLinks;
  /** The recipient of an invoice. */
  customerOf(principal: Principal): Promise<string>;
  pdf(invoice: InvoiceRow, customer: string, signal: AbortSignal): Promise<Uint8Array>;
};

export function invoiceRoutes({ database, links, customerOf, pdf }: InvoiceRouteParts): AnyRoute[] {
  const list = route({
    method: 'GET',
    path: '/billing/invoices',
    summary: 'List invoices, newest first',
    description:
      'A paid plan has one invoice for each paid period: when it is chosen, for the remaining days, and at the beginning of each further period. An upgrade within a period credits the unused time of the earlier plan.',
    scope,
    query: PageQuery,
    responses: { 200: PageOf(InvoiceView) },
    async handler({ principal, query: { limit, offset } }) {
      const where = { accountId: principal.accountId };
      const [rows, total] = await database.listPage(principal.accountId, Invoice, where, { limit, offset });
      const data = await Promise.all(rows.map((row) => view(row as InvoiceRow, principal)));
      return answer(200, page(data, offset, total));
    },
  });

  const download = route({
    method: 'GET',
    path: '/billing/invoices/{id}/pdf',
    summary: 'Download an invoice as PDF',
    advice: linkAdvice,
    description: 'The target of `pdf_url`.',
    extension: true,
    scope,
    responses: { 200: null },
    contentTypes: { 200: 'application/pdf' },
    async handler({ principal, request, params: { id } }) {
      const { accountId } = principal;
      const isId = id.startsWith(accountsIds.invoice);
      const found = isId
        ? await database.list(accountId, (em) => em.findOne(Invoice, { id, accountId }, { disableIdentityMap: true }))
        : null;
      if (found === null) throw new AppError('not_found', 'Invoice not found');
      const headers = {
        'Content-Type': 'application/pdf',
        'Content-Disposition': contentDisposition(`${id}.pdf`),
        'Cache-Control': 'private, no-store',
        'X-Content-Type-Options': 'nosniff',
      };
      return { status: 200, headers, body: await pdf(found as InvoiceRow, await customerOf(principal), request.signal) };
    },
  });

  return [list, download];

  async function view(row: InvoiceRow, principal: Principal): Promise<Static<typeof InvoiceView>> {
    const { id, amountMinor, lines, status, periodStart, periodEnd, createdAt } = row;
    return {
      id,
      amount: toMajor(amountMinor),
      lines: lines.map((line) => ({ description: line.description, amount: toMajor(line.amountMinor) })),
      status,
      period_start: isoTimestamp(periodStart).slice(0, 10),
      period_end: isoTimestamp(periodEnd).slice(0, 10),
      pdf_url: await links.to(`/billing/invoices/${id}/pdf`, principal, scope),
      created_at: isoTimestamp(createdAt),
    };
  }
}
