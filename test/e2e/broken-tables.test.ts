/**
 * Broken and huge CSVs from upload to report, with the offline model: the figures are correct, or the report says clearly what could not
 * be read. Meanwhile the service answers and its memory stays bounded.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { Caller, type Service, startService } from '../support/service.ts';

/** Resident memory of the whole service while it receives and profiles 50 MB; idle it has about 200 MB. */
const memoryLimitMb = 700;

test('tables in unusual forms are reported with correct figures', { timeout: 300_000 }, async (t) => {
  const service = await startService(t);
  const caller = await Caller.register(service);
  const plain = 'city,amount\nOslo,10\nBergen,20.5\nMalmö,30\n';
  const expected = /amount adds up to 60\.50 over 3 rows/;
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(plain, 'utf16le')]);
  const forms: [string, Buffer | string, RegExp][] = [
    ['bom.csv', `\ufeff${plain}`, expected],
    ['utf16.csv', utf16, expected],
    ['windows-1252.csv', Buffer.from(plain, 'latin1'), expected],
    ['crlf.csv', plain.replaceAll('\n', '\r\n'), expected],
    ['semicolon.csv', plain.replaceAll(',', ';').replace('20.5', '20,5'), expected],
    ['quoted.csv', 'city,amount\n"Oslo, the ""old"" town",10\n"Bergen\nnorth",20.5\nMalmö,30\n', expected],
    ['ragged.csv', `${plain}short\nlong,1,2,3,4\n`, /2 rows have more or fewer cells than the header \(first: row 4, 5\)/],
    ['open-quote.csv', `${plain}"never closed,5\n`, /A quote opened after row 4 is never closed/],
    ['empty.csv', '', /0 columns[\s\S]*The file is empty/],
    ['header-only.csv', 'city,amount\n', /2 columns[\s\S]*The table has a header \(city, amount\) and no rows/],
    ['one-cell.csv', 'x', /The table has a header \(x\) and no rows/],
    [
      'wide.csv',
      `${Array.from({ length: 3_000 }, (_, i) => `c${i}`).join(',')}\n${Array(3_000).fill('1').join(',')}\n`,
      /The table has 3000 columns; only the first 200 are profiled/,
    ],
  ];
  for (const [name, content, says] of forms) {
    await t.test(name, async () => {
      const { id } = await caller.json('POST', '/v1/workspaces', { name });
      await caller.upload(id, name, content);
      assert.match(await reported(caller, id, name), says);
    });
  }
  assert.doesNotMatch(service.output(), /unhandled promise rejection|unexpectedly/);
});

test('a CSV of 50 MB is reported with correct figures while the service uses bounded memory and answers others', {
  timeout: 540_000,
}, async (t) => {
  const service = await startService(t);
  const caller = await Caller.register(service);
  const { content, rows, total } = largeTable();
  const { id } = await caller.json('POST', '/v1/workspaces', { name: 'large' });
  const watch = watchService(service);
  await caller.upload(id, 'large.csv', content);
  const report = await reported(caller, id, 'large.csv', 480_000);
  const { peakMb, slowestMs } = await watch.end();
  t.diagnostic(`${peakMb} MB resident at most; slowest /health/live ${slowestMs} ms`);
  assert.match(report, new RegExp(`${rows.toLocaleString('en-US')} rows`));
  assert.ok(report.includes(total.toLocaleString('en-US')), `the report says the sum, ${total}:\n${report.slice(0, 3_000)}`);
  assert.ok(peakMb < memoryLimitMb, `${peakMb} MB`);
});

/** The deliverables or the answer of the task about the file. */
async function reported(caller: Caller, workspace: string, name: string, withinMs = 60_000): Promise<string> {
  const order = { prompt: `Analyse ${name} and tell me what stands out`, workspace_id: workspace };
  const { id } = await caller.json('POST', '/v1/tasks', order);
  const task = await caller.untilTask(id, ['complete', 'failed'], withinMs);
  const deliverables = await caller.json('GET', `/v1/tasks/${id}/deliverables`);
  const report = deliverables.find((file: { name: string }) => file.name.endsWith('.md'));
  const results = task.agents.map(
    (agent: { result: string | null; error: string | null }) => `${agent.result ?? ''}\n${agent.error ?? ''}`,
  );
  return [report === undefined ? '' : await (await fetch(report.download_url)).text(), ...results, task.error ?? ''].join('\n');
}

function largeTable(): { content: Buffer; rows: number; total: number } {
  const lines = ['id,city,amount,note'];
  let total = 0;
  const rows = 1_200_000;
  for (let row = 0; row < rows; row++) {
    const amount = (row * 7919) % 1_000;
    total += amount;
    lines.push(`${row},city ${row % 40},${amount},a note that is long ${row % 7}`);
  }
  return { content: Buffer.from(lines.join('\n')), rows, total };
}

/** Asks the service for answers until the test ends it. */
function watchService(service: Service) {
  let slowestMs = 0;
  let ending = false;
  const polling = (async () => {
    while (!ending) {
      const at = performance.now();
      assert.equal((await fetch(`${service.url}/health/live`)).status, 200);
      slowestMs = Math.max(slowestMs, Math.round(performance.now() - at));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    async end() {
      ending = true;
      await polling;
      return { peakMb: await peakResidentMb(service.pid), slowestMs };
    },
  };
}

/** The most resident memory since the process started, as the system counts it. 0 if the system does not report it. */
async function peakResidentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}
