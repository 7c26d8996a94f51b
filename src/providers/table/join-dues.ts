/** Finds what is due in one table and what was paid or delivered in the other: fees and payments, invoices and receipts, orders and deliveries. */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { clean } from './columns-in-memory.ts';
import { quantities, type Side, sums } from './join-side.ts';
import { isPrice, isQuantity, unitColumns } from './plan-figures.ts';
import { wordSet } from './word-set.ts';

/** Amounts of one table by key: due or paid. */
export type Amounts = { side: Side; plan: ColumnPlan; byKey: ReadonlyMap<string, number> };
export type Dues = { due: Amounts; paid: Amounts };

const dueWords = wordSet(
  'due dues owed owing payable fee fees bill bills billed invoice invoices invoiced ordered order orders pledge pledges pledged promised premium rent beitrag beiträge rechnung rechnungen forderung forderungen bestellung bestellungen bestellt miete zusage zugesagt cuota cuotas factura facturas facturado deuda pedido pedidos cotisation cotisations facture factures commande commandes loyer quota fattura fatture ordine ordini contributo bijdrage factuur facturen avgift faktura fatura mensalidade',
);
const dueEndings = [
  'beitrag',
  'beiträge',
  'rechnung',
  'rechnungen',
  'bestellung',
  'bestellungen',
  'gebühr',
  'gebühren',
  'beitraege',
  'gebuehr',
  'gebuehren',
];
const paidWords = wordSet(
  'paid pay payment payments receipt receipts received delivered delivery deliveries zahlung zahlungen bezahlt gezahlt eingang eingänge lieferung lieferungen geliefert pago pagos pagado cobro cobros abono entrega entregas paiement paiements payé versement versements encaissement encaissements livraison livraisons pagamento pagamenti incasso incassi versamento versamenti consegna consegne betaling betalingen betaald inbetalning inbetalningar pagamentos recebimentos',
);
const paidEndings = ['zahlung', 'zahlungen', 'eingang', 'eingänge', 'eingaenge', 'lieferung', 'lieferungen'];
const maxColumns = 5;
/** Keys with equal amounts in both tables show what one name alone would not. */
const minEqual = 3;
const minEqualShare = 0.5;

/** Null if neither the names nor equal amounts show which table has what is due and which what was paid. */
export function duesOf(a: Side, b: Side): Dues | null {
  return better(directed(a, b), directed(b, a));
}

type Candidate = Dues & { equal: number; named: number };

function better(one: Candidate | null, other: Candidate | null): Dues | null {
  if (one === null || other === null) return one ?? other;
  if (one.named === other.named) return null;
  return one.named > other.named ? one : other;
}

function directed(due: Side, paid: Side): Candidate | null {
  const candidates = amountsOf(due).flatMap((owed) =>
    amountsOf(paid).flatMap((received) => {
      const found = candidate(owed, received);
      return found === null ? [] : [found];
    }),
  );
  return candidates.toSorted((x, y) => y.named - x.named || y.equal - x.equal)[0] ?? null;
}

function candidate(due: Amounts, paid: Amounts): Candidate | null {
  // Money is never compared with hours or pieces.
  if (isQuantity(due.plan.name) !== isQuantity(paid.plan.name)) return null;
  const isDue = marked(due, dueWords, dueEndings) && !has(nameTokens(due.plan.name), paidWords);
  const isPaid = marked(paid, paidWords, paidEndings) && !has(nameTokens(paid.plan.name), dueWords);
  if (!isDue && !isPaid) return null;
  if (isPrice(due.plan.name) && !isDue) return null;
  const common = [...due.byKey].filter(([key]) => paid.byKey.has(key));
  if (common.length < 2) return null;
  const apart = common.map(([key, value]) => clean(paid.byKey.get(key)! - value));
  const equal = apart.filter((each) => each === 0).length;
  // If most keys have more than is due, that is due more than once: a rent of each month, the price of one piece.
  if (apart.filter((each) => each > 0).length > common.length / 2) return null;
  if (!(isDue && isPaid) && (equal < minEqual || equal < common.length * minEqualShare)) return null;
  return { due, paid, equal: equal / common.length, named: (isDue ? 1 : 0) + (isPaid ? 1 : 0) };
}

function amountsOf(side: Side): Amounts[] {
  const mixed = unitColumns({ columns: side.table.plans });
  return quantities(side)
    .filter((plan) => (plan.role === 'measure' || plan.role === 'unclear') && !mixed.has(plan.index) && !side.plans.includes(plan))
    .slice(0, maxColumns)
    .map((plan) => ({ side, plan, byKey: sums(side, plan) }));
}

/** The column's name decides before the file's: `paid` in invoices.csv is paid. */
function marked({ side, plan }: Amounts, known: ReadonlySet<string>, endings: readonly string[]): boolean {
  return [...nameTokens(plan.name), ...nameTokens(side.name)].some(
    (token) => known.has(token) || endings.some((ending) => token.length > ending.length && token.endsWith(ending)),
  );
}
