/** A yearly budget against the spending of some of its months, by department. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinTables } from '../../../src/providers/table/join.ts';
import { opening } from './tables.ts';

async function budgetOf(files: Record<string, string>): Promise<string[]> {
  const [left, right] = Object.entries(files).map(([name, text]) => ({ name, open: opening(Buffer.from(text)) }));
  const { remarks } = await joinTables(left!, right!);
  return remarks.filter(({ kind }) => kind.startsWith('budget_')).map(({ text }) => text);
}

const spending =
  'fecha;partida;importe\n05/01/2025;Sala;500,00\n05/02/2025;Sala;500,00\n17/02/2025;Luz;260,00\n05/03/2025;Sala;500,00\n12/03/2025;Folletos;850,00\n13/03/2025;Regalos;90,00\n29/03/2025;Web;100,00\n29/03/2025;Web;100,00\n';
const budget =
  'partida;área;presupuesto\nSala;Local;6.000,00\nLuz;Local;1.200,00\nFolletos;Difusión;800,00\nWeb;Difusión;400,00\nCursos;Personas;2.400,00\n';

test('spending is compared with the part of a yearly budget that belongs to its months, by department, and the rest is told', async () => {
  assert.deepEqual(await budgetOf({ 'presupuesto_2025.csv': budget, 'gastos.csv': spending }), [
    'Against 3/12 of presupuesto, by área: over: Difusión by 650 (216.7 %), 950 of 300; under: Personas by 600 (100 %), 0 of 600; Local by 40 (2.2 %), 1,760 of 1,800; without a budget: Regalos 90. None is above the whole presupuesto. Repeated row 8 of gastos.csv is counted once.',
    'By key, above 3/12 of presupuesto: Folletos by 650 (850 of 200; whole year 800). No importe at all, unused or not yet booked: Cursos (2,400).',
    'fecha of gastos.csv covers January to March 2025, 3 months of 12. If presupuesto is for the whole year, 3/12 of it is 2,700 of 10,800; importe is 2,800 (2,900 with repeated row 8), of which 90 has no budget.',
    'Left of the whole presupuesto, by partida: Sala 4,500; Cursos 2,400; Luz 940; Web 300 (200 with repeated row 8); Folletos -50. In all 8,090 (7,990 with repeated row 8) of 10,800 is left.',
    'Left of the whole presupuesto, by área: Local 5,440; Personas 2,400; Difusión 250 (150 with repeated row 8).',
  ]);
});

test('departments of a key of two columns are added up', async () => {
  const lines = await budgetOf({
    'budget.csv': 'Dept,Item,Annual budget\nOps,Fuel,1200\nOps,Repair,600\nSales,Travel,900\nSales,Fuel,300\n',
    'spent.csv':
      'Month,Dept,Item,Spent\n2024-01,Ops,Fuel,100\n2024-01,Ops,Repair,90\n2024-01,Sales,Travel,50\n2024-02,Ops,Fuel,110\n2024-02,Sales,Travel,60\n2024-02,Sales,Fuel,25\n',
  });
  assert.match(
    lines[0]!,
    /^Against 2\/12 of Annual budget, by Dept: over: none; under: Sales by 65 \(32\.5 %\), 135 of 200; equal: Ops 300\. None is above/,
  );
});

test('a budget of projects, of another year or of months is not divided by months', async () => {
  const costs = 'date,project,cost\n2025-01-10,Alpha,4000\n2025-02-11,Beta,5200\n2025-03-28,Gamma,1000\n';
  const projects = 'project,budget\nAlpha,10000\nBeta,5000\nGamma,8000\n';
  for (const name of ['projects.csv', 'projects_2024.csv', 'monthly_projects.csv'])
    assert.deepEqual(await budgetOf({ [name]: projects, 'costs.csv': costs }), [], name);
});
